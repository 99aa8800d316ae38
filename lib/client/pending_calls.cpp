// The table of outstanding calls; see the header.
#include "lib/client/pending_calls.hpp"

#include <algorithm>

#include "lib/base/assert.hpp"

namespace starlease::client {
namespace {

/// A daemon that cannot tell the outcome is asked again at most so seldom.
constexpr Milliseconds longest_pause{500};

}  // namespace

const core::RequestId* request_id_of(const core::Call& call) {
  return std::visit(
      [](const auto& c) -> const core::RequestId* {
        if constexpr (requires { c.deadline; })
          return &c.request_id;
        else
          return nullptr;
      },
      call);
}

PendingCalls::Number PendingCalls::add(PendingCall call) {
  SL_ASSERT(!full());
  const Number number = ++last_;
  deadlines_.add(call.deadline, number);
  calls_.emplace(number, std::move(call));
  return number;
}

PendingCall* PendingCalls::find(Number number) {
  const auto found = calls_.find(number);
  return found == calls_.end() ? nullptr : &found->second;
}

PendingCall PendingCalls::take(Number number) {
  const auto found = calls_.find(number);
  SL_ASSERT(found != calls_.end());
  PendingCall call = std::move(found->second);
  calls_.erase(found);
  deadlines_.remove(call.deadline, number);
  if (call.resend_at) resends_.remove(*call.resend_at, number);
  return call;
}

void PendingCalls::sent(Number number) {
  PendingCall* call = find(number);
  SL_ASSERT(call != nullptr);
  if (call->resend_at) resends_.remove(*std::exchange(call->resend_at, std::nullopt), number);
  call->sent = true;
  call->ever_sent = true;
}

void PendingCalls::resend_later(Number number, BootTime now, std::optional<Milliseconds> at_least) {
  PendingCall* call = find(number);
  SL_ASSERT(call != nullptr && !call->resend_at);
  call->sent = false;
  call->resend_at = now + std::max(call->pause, at_least.value_or(Milliseconds(0)));
  call->pause = std::min(2 * call->pause, longest_pause);
  resends_.add(*call->resend_at, number);
}

void PendingCalls::connection_closed() {
  for (auto& [number, call] : calls_) call.sent = false;
}

std::vector<PendingCalls::Number> PendingCalls::past_deadline(BootTime now) {
  return deadlines_.take(now);
}

std::vector<PendingCalls::Number> PendingCalls::due_resends(BootTime now) {
  auto due = resends_.take(now);
  for (const Number number : due) find(number)->resend_at.reset();
  return due;
}

std::vector<PendingCalls::Number> PendingCalls::unsent() const {
  std::vector<Number> numbers;
  for (const auto& [number, call] : calls_) {
    if (!call.sent && !call.resend_at) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<PendingCalls::Number> PendingCalls::all() const {
  std::vector<Number> numbers;
  for (const auto& [number, call] : calls_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace starlease::client

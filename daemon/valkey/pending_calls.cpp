// Calls in order with a heap of deadlines; see the header.
#include "daemon/valkey/pending_calls.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/assert.hpp"

namespace starlease::valkey {
namespace {

constexpr auto later = [](const auto& a, const auto& b) {
  return a.at != b.at ? a.at > b.at : a.id > b.id;
};
/// Below this size leftovers in the heap are not worth a sweep.
constexpr std::size_t compact_from = 256;

}  // namespace

std::uint64_t PendingCalls::add(BootTime sent_at, BootTime deadline, Answered done) {
  SL_ASSERT(done);
  const std::uint64_t id = next_id_++;
  ++waiting_;
  calls_.push_back({id, sent_at, std::move(done)});
  deadlines_.push_back({deadline, id});
  std::ranges::push_heap(deadlines_, later);
  if (deadlines_.size() > compact_from && deadlines_.size() > 2 * calls_.size()) compact();
  return id;
}

Answered PendingCalls::take_back() {
  SL_ASSERT(!calls_.empty());
  Answered done = std::move(calls_.back().done);
  calls_.pop_back();
  --waiting_;
  --next_id_;
  std::erase_if(deadlines_, [this](const Deadline& deadline) { return deadline.id == next_id_; });
  std::ranges::make_heap(deadlines_, later);
  return done;
}

std::optional<PendingCall> PendingCalls::take(std::uint64_t id) {
  if (calls_.empty() || calls_.front().id != id) return std::nullopt;
  PendingCall call = std::move(calls_.front());
  calls_.pop_front();
  if (call.done) --waiting_;
  return call;
}

PendingCall* PendingCalls::find_waiting(std::uint64_t id) {
  if (calls_.empty() || id < calls_.front().id) return nullptr;
  PendingCall& call = calls_[static_cast<std::size_t>(id - calls_.front().id)];
  return call.done ? &call : nullptr;
}

void PendingCalls::drop_dead_deadlines() {
  while (!deadlines_.empty() && find_waiting(deadlines_.front().id) == nullptr) {
    std::ranges::pop_heap(deadlines_, later);
    deadlines_.pop_back();
  }
}

void PendingCalls::compact() {
  std::erase_if(deadlines_,
                [this](const Deadline& deadline) { return find_waiting(deadline.id) == nullptr; });
  std::ranges::make_heap(deadlines_, later);
}

std::optional<BootTime> PendingCalls::next_deadline() {
  drop_dead_deadlines();
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.front().at;
}

std::vector<PendingCall> PendingCalls::take_expired(BootTime now) {
  std::vector<PendingCall> expired;
  for (drop_dead_deadlines(); !deadlines_.empty() && deadlines_.front().at <= now;
       drop_dead_deadlines()) {
    PendingCall* call = find_waiting(deadlines_.front().id);
    expired.push_back({call->id, call->sent_at, std::exchange(call->done, nullptr)});
    --waiting_;
  }
  return expired;
}

std::vector<PendingCall> PendingCalls::take_all() {
  std::vector<PendingCall> all;
  for (PendingCall& call : calls_) {
    if (call.done) all.push_back(std::move(call));
  }
  calls_.clear();
  deadlines_.clear();
  waiting_ = 0;
  return all;
}

}  // namespace starlease::valkey

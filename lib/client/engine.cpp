// Calls, their deadlines and the order of things in one turn of the client; see the header.
#include "lib/client/engine.hpp"

#include <algorithm>

#include "lib/client/check_call.hpp"
#include "proto-ipc/request_encoder.hpp"

namespace starlease::client {
namespace {

/// The daemon is given so much less time than the caller, so that its answer is here in time.
constexpr Milliseconds longest_answer_way{100};
/// Acquisitions that were given up are remembered up to this number; the daemon ends the others
/// with the session.
constexpr std::size_t max_abandoned = 10'000;

Milliseconds daemon_timeout(Nanoseconds remaining) {
  const Milliseconds whole = base::floor_ms(remaining);
  return std::max(Milliseconds(1), whole - std::min(longest_answer_way, whole / 10));
}

void set_timeout(core::Call& call, Milliseconds timeout) {
  std::visit(
      [&](auto& c) {
        if constexpr (requires { c.deadline; }) c.deadline.timeout = timeout;
      },
      call);
}

}  // namespace

base::WallTime ProcessClock::wall_now() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return base::WallTime(Milliseconds(std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000));
}

Engine::Engine(const ClientOptions& options, std::string path, SocketAddress address, Wakeup wakeup)
    : options_(options),
      path_(std::move(path)),
      address_(address),
      ids_(random_, clock_),
      wakeup_(std::move(wakeup)) {
  session_.service_instance_id = options_.service_instance_id;
  session_.resume = options_.resume;
}

Engine::~Engine() {
  if (link_ == Link::ready) (void)connection_.flush();
  for (HeldLease* lease : leases_.all()) {
    if (!lease->loss) {
      const LeaseInfo& info = lease->grant.lease;
      leases_.lose(*lease, {info.lease_id, info.fencing_token, LossReason::connection_lost, {}});
    }
    lease->engine = nullptr;
  }
}

std::optional<Error> Engine::refuse(const core::Call& call) const {
  if (fatal_) return fatal_;
  if (!calls_.full()) return check_call(call);
  Error error;
  error.code = ErrorCode::lease_rate_limited;
  error.message = "Too many calls of this client wait for an answer; let some finish first";
  return error;
}

void Engine::post(std::move_only_function<void()> news) {
  news_.push_back(std::move(news));
  arm();
}

void Engine::submit(core::Call call, Milliseconds timeout, OnAnswer on_answer, Retry retry) {
  if (auto refusal = refuse(call)) {
    return post([error = std::move(*refusal), done = std::move(on_answer)]() mutable {
      done(std::move(error));
    });
  }
  if (std::holds_alternative<core::AcquireCall>(call)) {
    // The caller has come back for what it had given up: the answer is wanted again.
    std::erase_if(abandoned_,
                  [id = *request_id_of(call)](const auto& entry) { return entry.second == id; });
  }
  const BootTime deadline = boot_now() + std::max(timeout, Milliseconds(0));
  const Number number = calls_.add({.call = std::move(call),
                                    .deadline = deadline,
                                    .retry = retry,
                                    .on_answer = std::move(on_answer),
                                    .resend_at = std::nullopt});
  if (link_ == Link::ready) send(number);
  arm();
}

void Engine::send(Number number) {
  PendingCall& call = *calls_.find(number);
  set_timeout(call.call, daemon_timeout(call.deadline - boot_now()));
  const std::string payload = ipc::encode_request(static_cast<std::int64_t>(number), call.call);
  Error error;
  if (payload.size() > connection_.frame_limit()) {
    error.code = ErrorCode::invalid_lease_request;
    error.message = "The request has " + std::to_string(payload.size()) + " bytes, more than " +
                    std::to_string(connection_.frame_limit()) + "; make it smaller";
    return complete(number, error);
  }
  if (!connection_.send(payload)) {
    error.code = ErrorCode::lease_rate_limited;
    error.message = "The daemon does not read what is sent to it; retry later";
    return complete(number, error);
  }
  calls_.sent(number);
  // A broken connection shows itself at the next read.
  (void)connection_.flush();
}

void Engine::complete(Number number, Result<Answered> result) {
  PendingCall call = calls_.take(number);
  news_.emplace_back([done = std::move(call.on_answer), result = std::move(result)]() mutable {
    done(std::move(result));
  });
}

Result<Answered> Engine::call(core::Call call, Milliseconds timeout) {
  std::optional<Result<Answered>> answer;
  submit(std::move(call), timeout,
         [&](Result<Answered> result) { answer.emplace(std::move(result)); });
  while (!answer) {
    // The call's own deadline ends this loop at the latest.
    if (news_.empty()) wakeup_.wait(timeout + longest_answer_way);
    (void)process();
  }
  return std::move(*answer);
}

Result<void> Engine::process() {
  advance();
  run_news();
  if (fatal_) return *fatal_;
  return {};
}

Result<void> Engine::wait(Milliseconds timeout) {
  if (news_.empty()) wakeup_.wait(timeout);
  return process();
}

void Engine::run_news() {
  // A callback may add news and may call process() itself.
  while (!news_.empty()) {
    auto tell = std::move(news_.front());
    news_.pop_front();
    tell();
  }
  arm();
}

void Engine::advance() {
  if (link_ != Link::down) receive();
  on_time(boot_now());
  const bool reach_out = !fatal_ && !opening_ && link_ == Link::down && boot_now() >= connect_at_;
  if (reach_out) connect();
  if (link_ != Link::down && !connection_.flush()) disconnected();
  arm();
}

void Engine::on_time(BootTime now) {
  for (const Number number : calls_.past_deadline(now)) {
    const PendingCall& call = *calls_.find(number);
    abandon(number, call);
    complete(number, deadline_error(call));
  }
  if (link_ == Link::ready) {
    for (const Number number : calls_.due_resends(now)) send(number);
  }
  for (HeldLease* lease : leases_.ended(now)) {
    const bool attached = lease->attached;
    lose(*lease, attached ? LossReason::expired : LossReason::connection_lost, {});
    // The daemon hung, or it would have told: it must not go on renewing what nobody relies on.
    if (attached) release(*lease);
  }
  const bool greeting_late = link_ == Link::greeting && now >= hello_deadline_;
  if (greeting_late && !opening_) disconnected();
}

Error Engine::deadline_error(const PendingCall& call) const {
  Error error;
  if (!call.ever_sent) {
    error.code = ErrorCode::no_daemon;
    error.message =
        "The daemon at " + path_ + " could not be reached before the deadline; nothing was asked";
  } else if (!call.sent && link_ != Link::ready) {
    error.code = ErrorCode::connection_lost;
    error.message =
        "The connection broke and was not restored before the deadline; the operation may have "
        "been "
        "done: repeat it with the same request_id";
  } else {
    error.code = ErrorCode::local_deadline;
    error.message =
        "No answer came before the deadline; the operation may have been done: repeat it with the "
        "same request_id";
  }
  return error;
}

void Engine::abandon(Number number, const PendingCall& call) {
  if (!call.sent || abandoned_.size() >= max_abandoned) return;
  if (std::holds_alternative<core::AcquireCall>(call.call)) {
    abandoned_.emplace(number, *request_id_of(call.call));
  }
}

void Engine::release(HeldLease& lease) {
  const LeaseInfo& info = lease.grant.lease;
  core::ReleaseCall call;
  call.lease_id = core::LeaseId(info.lease_id);
  call.token = core::FencingToken{info.fencing_token};
  call.request_id = new_request_id();
  // Long enough for an answer, and pointless once the lease has ended by itself.
  submit(
      std::move(call), std::max(info.ttl, Milliseconds(1000)), [](const Result<Answered>&) {},
      Retry::all_retryable);
}

void Engine::finish(const Error& error, LossReason reason) {
  if (fatal_) return;
  fatal_ = error;
  connection_.close();
  wakeup_.forget();
  link_ = Link::down;
  for (const Number number : calls_.all()) complete(number, error);
  for (const std::uint64_t serial : leases_.held()) {
    lose(*leases_.find(serial), reason, {});
  }
}

void Engine::arm() {
  std::optional<BootTime> next;
  const auto consider = [&](std::optional<BootTime> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  if (!news_.empty()) consider(BootTime(Nanoseconds(1)));
  consider(calls_.earliest_deadline());
  consider(leases_.earliest_end());
  switch (link_) {
    case Link::down:
      if (!fatal_ && !opening_) consider(connect_at_);
      break;
    case Link::greeting:
      consider(hello_deadline_);
      break;
    case Link::ready:
      consider(calls_.earliest_resend());
      break;
  }
  wakeup_.arm(next);
  if (connection_.is_open()) wakeup_.watch(connection_.fd(), connection_.has_output());
}

}  // namespace starlease::client

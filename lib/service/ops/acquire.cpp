// acquire as a small state machine: asking -> (granted | refused | resting -> asking ...). While it
// rests it stands in line for the lock, or waits for the store to serve again.
#include "lib/service/ops/acquire.hpp"

#include <algorithm>

#include "lib/service/ops/answers.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// The last attempt of a wait must still fit before the deadline.
constexpr Milliseconds final_attempt{100};
constexpr Milliseconds repeat_after{50};
constexpr std::uint64_t expiry_jitter_ms = 10;

class AcquireOperation final : public PendingOperation, public Waiter {
 public:
  AcquireOperation(Kernel& kernel, std::uint64_t number, const CallContext& context,
                   store::AcquireCommand command, core::AcquireCall call, BootTime deadline,
                   AnswerDone done)
      : kernel_(kernel),
        number_(number),
        session_(context.session),
        command_(std::move(command)),
        call_(std::move(call)),
        deadline_(deadline),
        done_(std::move(done)) {
    const Milliseconds wait = std::min(call_.wait, kernel_.settings.policy.maximum_wait);
    wait_until_ = std::min(context.received_at + wait, deadline_ - final_attempt);
    waits_ = call_.wait > Milliseconds(0);
  }

  /// False if the line is full; the operation must then not be started.
  [[nodiscard]] bool stand_in_line() {
    in_line_ = waits_ && kernel_.waiters.join(command_.digest, *this);
    return in_line_ || !waits_;
  }

  void refuse_full() {
    finish(base::failed(core::failure(FailureCode::lease_rate_limited, default_retry_after)));
  }

  void ask(bool final_try) {
    timer_.reset();
    asking_ = true;
    heard_ = false;
    final_ = final_try;
    store::AcquireCommand command = command_;
    // Of each attempt its own: what an earlier one was granted may be lost with the store's data.
    command.candidate = kernel_.ids.lease(command_.digest);
    if (waits_ && !final_) command.idempotency.refusal_retention = Milliseconds(0);
    kernel_.seams.store.acquire(
        std::move(command), deadline_,
        [&kernel = kernel_, number = number_](store::AcquireResult result) {
          static_cast<AcquireOperation*>(kernel.pending(number))->on_result(result);
        });
  }

  void lock_may_be_free() override {
    heard_ = true;
    if (!asking_ && !gone_) ask(false);
  }

  void now_first(BootTime retry_at) override {
    if (!asking_) rest_until(retry_at + jitter());
  }

  void store_may_serve() override {
    if (!asking_ && (blocked_ || maybe_done_) && !gone_) ask(false);
  }

  void session_gone() override {
    gone_ = true;
    if (!asking_) finish(base::failed(core::failure(FailureCode::lease_lost)));
  }

  [[nodiscard]] SessionId session() const override { return session_; }

 private:
  void on_result(store::AcquireResult& result) {
    asking_ = false;
    kernel_.recovery.observe(kernel_.partition(command_.digest), result.head);
    blocked_ = false;
    switch (result.head.status) {
      case Status::ok:
        return on_granted(result);
      case Status::conflict:
        return on_conflict(result);
      case Status::unknown:
        maybe_done_ = true;
        return on_unanswered(result.head);
      case Status::grace:
      case Status::recovering:
      case Status::unavailable:
      case Status::deadline_exceeded:
        return on_unanswered(result.head);
      case Status::lost:
      case Status::not_found:
      case Status::idempotency_conflict:
      case Status::quarantined:
      case Status::exhausted:
      case Status::commit_conflict:
      case Status::full:
        return finish(base::failed(failure_of(result.head)));
    }
  }

  void on_granted(const store::AcquireResult& result) {
    const bool active = result.current_state == core::LeaseState::active;
    Session* session = gone_ ? nullptr : kernel_.sessions.find(session_);
    if (session == nullptr || !session->online()) {
      if (active && !maybe_known(result)) release_unheard(result);
      return finish(base::failed(core::failure(FailureCode::lease_lost)));
    }
    const BootTime now = kernel_.now();
    const bool given_up = kernel_.releaser.giving_up(result.grant.lease_id);
    const bool relied_on = active && !given_up && !session->told_lost(result.grant.lease_id);
    if (!relied_on) {
      const auto ended = given_up ? core::LeaseState::released : core::LeaseState::expired;
      const auto state = active ? ended : result.current_state;
      const GrantContext context{command_.digest, command_.identity, call_.work, false};
      return finish(answer_for_past(context, result.grant, state, now));
    }
    const Milliseconds remaining = result.current_expires_at - result.head.now;
    const core::LeasePolicy& policy = kernel_.settings.policy;
    if (core::valid_until(policy, result.head.sent_at, remaining) -
            core::margin(policy, result.grant.ttl) <=
        now) {
      // The answer took so long that the lease is as good as over: nobody may rely on it.
      if (!maybe_known(result)) release_unheard(result);
      return finish(base::failed(core::failure(FailureCode::lease_lost)));
    }
    HeldLease& lease = hold(result, *session);
    auto answer = answer_for_held(lease, now, false);
    if (result.head.replayed) {
      answer.replay = core::Replay{core::LeaseState::active};
      answer.grant = result.grant;
    }
    kernel_.waiters.holder_known_until(command_.digest, now + lease.ttl());
    finish(std::move(answer));
  }

  HeldLease& hold(const store::AcquireResult& result, Session& session) {
    HoldRequest request;
    request.digest = command_.digest;
    request.identity = command_.identity;
    request.grant = result.grant;
    request.grant.expires_at = result.current_expires_at;
    request.work = call_.work;
    request.epoch = result.head.epoch;
    request.maximum_lifetime = command_.maximum_lifetime;
    request.heartbeat = call_.heartbeat;
    request.automatic = call_.renew == core::RenewMode::automatic;
    request.keep_on_disconnect = call_.on_disconnect == core::OnDisconnect::keep;
    request.sequence = kernel_.seams.clock.wall_now().time_since_epoch().count();
    return kernel_.hold(request, result.head, session);
  }

  /// A replay: the first answer may have reached the worker, over another connection.
  [[nodiscard]] bool maybe_known(const store::AcquireResult& result) const {
    return (result.head.replayed && !maybe_done_) ||
           kernel_.is_known(command_.owner, command_.digest, result.grant.lease_id);
  }

  /// The worker left while the store granted: nobody will ever use it.
  void release_unheard(const store::AcquireResult& result) {
    kernel_.releaser.release(
        {command_.digest, result.grant.lease_id, result.grant.token, command_.owner},
        command_.audit.principal_class, result.head.sent_at + command_.ttl + command_.ttl / 10);
  }

  void on_conflict(const store::AcquireResult& result) {
    const BootTime now = kernel_.now();
    const BootTime retry_at = now + result.head.retry_after.value_or(default_retry_after);
    kernel_.waiters.holder_known_until(command_.digest, retry_at);
    if (gone_ || !waits_ || final_ || result.head.replayed) {
      core::Failure failure = failure_of(result.head);
      failure.replayed = result.head.replayed;
      failure.held_by_caller = result.own_lease_id;
      return finish(base::failed(std::move(failure)));
    }
    const bool first = kernel_.waiters.is_first(command_.digest, *this);
    // A notice that overtook this answer may have been the one that we wait for.
    if (first && heard_ && now < wait_until_) return ask(false);
    rest_until(first ? retry_at + jitter() : BootTime::max());
  }

  /// No verdict: wait for the store where that was asked for or where the first attempt may have
  /// been done; otherwise say at once that nothing was granted.
  void on_unanswered(const store::Head& head) {
    const BootTime now = kernel_.now();
    const BootTime limit = maybe_done_ ? deadline_ : wait_until_;
    if (!gone_ && now < limit && (maybe_done_ || (waits_ && !final_))) {
      blocked_ = true;
      return rest_until(now + std::max(repeat_after, head.retry_after.value_or(repeat_after)));
    }
    store::Head verdict = head;
    if (maybe_done_) {
      verdict.status = Status::unknown;
      resolve_later();
    }
    finish(base::failed(failure_of(verdict)));
  }

  /// The worker is told "unknown"; if it has gone by the time the store answers again, what may
  /// have been granted is released instead of standing until its expiry.
  void resolve_later();

  void rest_until(BootTime wake) {
    const BootTime limit = maybe_done_ ? deadline_ : wait_until_;
    const bool last = wake >= limit;
    timer_ = kernel_.seams.timers.at(std::min(wake, limit), [this, last] { ask(last && waits_); });
  }

  Milliseconds jitter() { return Milliseconds(kernel_.seams.random.below(expiry_jitter_ms + 1)); }

  void finish(core::Outcome<core::Answer> outcome) {
    timer_.reset();
    if (std::exchange(in_line_, false)) kernel_.waiters.leave(command_.digest, *this);
    AnswerDone done = std::move(done_);
    kernel_.finished(number_);
    done(std::move(outcome));
  }

  Kernel& kernel_;
  std::uint64_t number_;
  SessionId session_;
  store::AcquireCommand command_;
  core::AcquireCall call_;
  BootTime deadline_;
  BootTime wait_until_;
  AnswerDone done_;
  base::Timer timer_;
  bool waits_ = false;
  bool in_line_ = false;
  bool asking_ = false;
  bool final_ = false;       // this attempt is the last of a wait: its refusal is the result
  bool heard_ = false;       // a notice came while asking
  bool blocked_ = false;     // the store does not serve; not a matter of the lock
  bool maybe_done_ = false;  // an attempt was submitted and not answered
  bool gone_ = false;
};

/// Outlives the acquisition that was answered "unknown": asks once more when the store answers
/// again.
class UnknownAcquire final : public PendingOperation {
 public:
  UnknownAcquire(Kernel& kernel, std::uint64_t number, SessionId session,
                 const store::AcquireCommand& command)
      : kernel_(kernel),
        number_(number),
        session_(session),
        command_(command),
        give_up_(kernel.now() + command.ttl) {
    rest();
  }

  void session_gone() override {}
  void store_may_serve() override {
    if (timer_) ask();
  }
  [[nodiscard]] SessionId session() const override { return session_; }

 private:
  static constexpr Milliseconds ask_every{500};

  void rest() {
    timer_ = kernel_.seams.timers.at(kernel_.now() + ask_every, [this] { ask(); });
  }

  void ask() {
    timer_.reset();
    kernel_.seams.store.resolve(
        {command_.digest, core::Operation::acquire, command_.idempotency.scope},
        kernel_.now() + ask_every,
        [&kernel = kernel_, number = number_](store::ResolveResult result) {
          static_cast<UnknownAcquire*>(kernel.pending(number))->on_result(result);
        });
  }

  void on_result(const store::ResolveResult& result) {
    kernel_.recovery.observe(kernel_.partition(command_.digest), result.head);
    if (result.head.status == Status::ok) {
      const auto* acquired = std::get_if<store::AcquireResult>(&result.outcome);
      const bool granted = acquired != nullptr && acquired->head.status == Status::ok;
      const bool active = result.current_state == core::LeaseState::active;
      const bool unclaimed =
          granted && active &&
          !kernel_.is_known(command_.owner, command_.digest, acquired->grant.lease_id);
      // A worker that is still there may claim it under the same request_id until it expires.
      if (unclaimed && online()) return rest_or_end();
      if (unclaimed) {
        kernel_.releaser.release(
            {command_.digest, acquired->grant.lease_id, acquired->grant.token, command_.owner},
            command_.audit.principal_class, give_up_);
      }
      return kernel_.finished(number_);
    }
    rest_or_end();
  }

  [[nodiscard]] bool online() const {
    // By its instance: the worker may have come back in another session.
    const Session* session = kernel_.sessions.find(command_.owner.instance);
    return session != nullptr && session->online();
  }

  void rest_or_end() {
    if (kernel_.now() >= give_up_) return kernel_.finished(number_);
    rest();
  }

  Kernel& kernel_;
  std::uint64_t number_;
  SessionId session_;
  store::AcquireCommand command_;
  BootTime give_up_;
  base::Timer timer_;
};

void AcquireOperation::resolve_later() {
  const std::uint64_t number = kernel_.next_number();
  kernel_.keep(number, std::make_unique<UnknownAcquire>(kernel_, number, session_, command_));
}

store::AcquireCommand command_for(Kernel& kernel, const Session& session,
                                  const CallContext& context, const core::AcquireCall& call,
                                  core::LockIdentity identity, const core::LeaseTerms& terms) {
  store::AcquireCommand command;
  command.digest = core::lock_digest(identity);
  command.identity = std::move(identity);
  command.owner = session.owner;
  command.ttl = terms.ttl;
  command.maximum_lifetime = terms.maximum_lifetime;
  command.lock_delay = kernel.settings.policy.lock_delay;
  command.work = call.work;
  command.metadata = call.metadata;
  command.idempotency = {core::idempotency_scope(core::Operation::acquire, command.digest,
                                                 session.owner.principal, call.request_id),
                         core::request_digest(call, command.digest, session.owner),
                         core::replay_retention(kernel.settings.policy),
                         kernel.settings.policy.retry_window};
  command.audit = {call.request_id, context.correlation, context.decision,
                   session.principal->principal_class};
  return command;
}

std::optional<core::Failure> no_room(const Kernel& kernel, const Session& session) {
  const AdmissionSettings& bounds = kernel.settings.admission;
  // What is under way may be granted yet.
  const bool full = kernel.held.size() + kernel.pending_count() >= bounds.max_leases ||
                    session.lease_count + session.pending.size() >= bounds.max_leases_per_session;
  if (!full) return std::nullopt;
  return core::failure(FailureCode::lease_rate_limited, default_retry_after);
}

}  // namespace

void acquire(Kernel& kernel, Session& session, const CallContext& context, core::AcquireCall call,
             AnswerDone done) {
  auto identity = core::normalize(call.identity, kernel.settings.identities);
  if (!identity) return done(base::failed(identity.error()));
  if (!core::has_capability(*session.principal, core::Capability::targets_lease) ||
      !core::in_scope(*session.principal, *identity)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const auto terms = core::effective_terms(kernel.settings.policy, call.ttl, call.maximum_lifetime);
  if (!terms) return done(base::failed(terms.error()));
  const auto deadline = deadline_of(call.deadline, kernel.settings.policy, context.received_at,
                                    kernel.seams.clock.wall_now());
  if (!deadline) return done(base::failed(core::failure(FailureCode::deadline_exceeded)));
  if (kernel.draining) {
    return done(
        base::failed(core::failure(FailureCode::lease_backend_unavailable, default_retry_after)));
  }
  if (const auto full = no_room(kernel, session)) return done(base::failed(*full));

  auto command = command_for(kernel, session, context, call, std::move(*identity), *terms);
  const std::uint64_t number = kernel.next_number();
  auto owned = std::make_unique<AcquireOperation>(kernel, number, context, std::move(command),
                                                  std::move(call), *deadline, std::move(done));
  AcquireOperation& operation = *owned;
  const bool admitted = operation.stand_in_line();
  kernel.keep(number, std::move(owned));
  if (admitted) {
    operation.ask(false);
  } else {
    operation.refuse_full();
  }
}

}  // namespace starlease::service

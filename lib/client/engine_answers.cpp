// What the daemon sends: answers to the calls that wait, and events; see engine.hpp.
#include <algorithm>

#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"

namespace starlease::client {
namespace {

/// A session resumes with at most so many losses; more would be of nobody who listens.
constexpr std::size_t max_unheard = 1000;

Error lost_error(std::string message) {
  Error error;
  error.code = ErrorCode::lease_lost;
  error.message = std::move(message);
  return error;
}

Event lease_event(EventKind kind, const core::LeaseId& lease_id, core::FencingToken token) {
  Event event;
  event.kind = kind;
  event.lease_id = lease_id.value;
  event.fencing_token = token.value;
  return event;
}

}  // namespace

void Engine::receive() {
  std::vector<std::string> payloads;
  const Connection::Input input = connection_.receive(payloads);
  for (const std::string& payload : payloads) {
    on_payload(payload);
    if (link_ == Link::down) return;
  }
  if (input == Connection::Input::broken_framing) on_protocol_error("broken framing");
  if (input != Connection::Input::drained) disconnected();
}

void Engine::on_payload(const std::string& payload) {
  auto message = decoder_.decode(payload);
  if (!message) {
    on_protocol_error(message.error().message);
    return disconnected();
  }
  if (const auto* event = std::get_if<core::Event>(&*message)) return on_daemon_event(*event);
  if (std::holds_alternative<ipc::UnknownEvent>(*message)) return;  // of a newer daemon
  auto& reply = std::get<ipc::Reply>(*message);
  // Ours are numbers; an answer to anything else answers nobody.
  const auto* number = std::get_if<std::int64_t>(&reply.id);
  if (number == nullptr || *number < 0) return;
  Result<core::Answer> answer =
      reply.outcome
          ? Result<core::Answer>(std::move(*reply.outcome))
          : Result<core::Answer>(public_error(reply.outcome.error(), reply.correlation.value));
  if (link_ == Link::greeting) return on_hello(std::move(answer));
  on_reply(static_cast<Number>(*number), std::move(answer));
}

void Engine::on_reply(Number number, Result<core::Answer> answer) {
  PendingCall* call = calls_.find(number);
  if (call == nullptr) return on_late_reply(number, answer);
  const BootTime now = boot_now();
  if (now >= call->deadline) {
    // Too late to grant anything. It is given up by the clock in this same turn.
    if (answer) {
      if (const auto* grant = std::get_if<core::GrantAnswer>(&*answer)) {
        if (!grant->renewed) release_unused(*grant);
      }
      call->sent = false;  // so that it is not remembered as abandoned
    }
    return;
  }
  if (!answer) {
    const Error& error = answer.error();
    const bool unknown = error.code == ErrorCode::lease_outcome_unknown;
    const bool again = unknown || (call->retry == Retry::all_retryable && error.retryable());
    const auto pause = error.retry_after.value_or(Milliseconds(0));
    if (again && now + std::max(call->pause, pause) < call->deadline) {
      return calls_.resend_later(number, now, error.retry_after);
    }
    return complete(number, std::move(answer).error());
  }
  auto* grant = std::get_if<core::GrantAnswer>(&*answer);
  if (const auto* acquire = std::get_if<core::AcquireCall>(&call->call)) {
    if (grant != nullptr) return complete(number, granted(*acquire, std::move(*grant)));
  }
  // At once, and not with the caller's news: a later look at the clock in this turn must see it.
  if (grant != nullptr) renewed(*grant);
  complete(number, Answered{std::move(*answer), nullptr});
}

void Engine::on_late_reply(Number number, const Result<core::Answer>& answer) {
  if (abandoned_.erase(number) == 0 || !answer) return;
  const auto* grant = std::get_if<core::GrantAnswer>(&*answer);
  if (grant != nullptr && !grant->renewed) release_unused(*grant);
}

Result<Answered> Engine::granted(const core::AcquireCall& call, core::GrantAnswer answer) {
  if (answer.replay && answer.replay->current_state != core::LeaseState::active) {
    return lost_error(
        "The lease that this request_id got has ended; acquire with a new request_id");
  }
  if (leases_.find(answer.grant.lease_id.value, answer.grant.token.value) != nullptr) {
    Error error;
    error.code = ErrorCode::idempotency_conflict;
    error.field = "request_id";
    error.message = "This client holds the lease of request " + call.request_id.value +
                    " already; use that object, or a new request_id";
    return error;
  }
  if (boot_now() >= answer.valid_until) {
    release_unused(answer);
    return lost_error("The answer came after the lease's validity had ended; acquire again");
  }
  auto held = std::make_unique<HeldLease>();
  held->engine = this;
  held->grant = public_grant(answer);
  held->envelope = answer.envelope;
  leases_.add(*held);
  return Answered{std::move(answer), std::move(held)};
}

void Engine::release_unused(const core::GrantAnswer& answer) {
  core::ReleaseCall call;
  call.lease_id = answer.grant.lease_id;
  call.token = answer.grant.token;
  call.request_id = new_request_id();
  submit(
      std::move(call), std::max(answer.grant.ttl, Milliseconds(1000)),
      [](const Result<Answered>&) {}, Retry::all_retryable);
}

void Engine::renewed(const core::GrantAnswer& answer) {
  HeldLease* lease = leases_.find(answer.grant.lease_id.value, answer.grant.token.value);
  // An answer that comes after the validity gives none back; the lease is lost in this same turn.
  if (lease == nullptr || boot_now() >= lease->valid_until()) return;
  if (answer.replay && answer.replay->current_state != core::LeaseState::active) {
    return lose(*lease, LossReason::renewal_rejected, public_state(answer.replay->current_state));
  }
  leases_.renewed(*lease, answer.valid_until);
  lease->attached = true;
  LeaseInfo& info = lease->grant.lease;
  info.ttl = answer.grant.ttl;
  if (public_time(answer.grant.expires_at) < info.expires_at) return;
  info.renewed_at = public_time(answer.grant.renewed_at);
  lease->expires_at(answer.grant.expires_at);
}

void Engine::on_daemon_event(const core::Event& event) {
  struct Visitor {
    Engine& engine;
    void operator()(const core::LeaseLost& e) const {
      HeldLease* lease = engine.leases_.find(e.lease_id.value, e.token.value);
      if (lease != nullptr) engine.lose(*lease, public_reason(e.reason), public_state(e.state));
    }
    void operator()(const core::LeaseExpiring& e) const {
      Event told = lease_event(EventKind::lease_expiring, e.lease_id, e.token);
      told.remaining = e.remaining;
      engine.tell(std::move(told));
    }
    void operator()(const core::LeaseRenewedNotice& e) const { engine.on_renewed_notice(e); }
    void operator()(const core::BackendStateChanged& e) const {
      engine.session_.backend = public_backend(e.state);
      Event told;
      told.kind = EventKind::backend_state;
      told.backend = engine.session_.backend;
      engine.tell(std::move(told));
    }
    void operator()(const core::Draining& e) const {
      Event told;
      told.kind = EventKind::draining;
      told.restart = e.restart;
      engine.tell(std::move(told));
    }
    void operator()(const core::ProtocolError& e) const {
      engine.on_protocol_error(e.message);
      engine.disconnected();  // the daemon closes, too
    }
  };
  std::visit(Visitor{*this}, event);
}

void Engine::on_renewed_notice(const core::LeaseRenewedNotice& notice) {
  HeldLease* lease = leases_.find(notice.lease_id.value, notice.token.value);
  if (lease == nullptr) return;
  // What was left when it was sent says nothing about now: only the instant counts.
  leases_.renewed(*lease, notice.valid_until);
  lease->attached = true;
  const BackendTime expires_at = public_time(notice.expires_at);
  if (expires_at > lease->grant.lease.expires_at) lease->expires_at(notice.expires_at);
  Event event = lease_event(EventKind::lease_renewed, notice.lease_id, notice.token);
  event.expires_at = expires_at;
  tell(std::move(event));
}

void Engine::on_protocol_error(const std::string& message) {
  Error error;
  error.code = ErrorCode::protocol_violation;
  error.message = "Client and daemon do not understand each other (" + message +
                  "); check that both are of the same release";
  if (link_ == Link::greeting) return finish(error);
  // Sent again they would only break the next connection too.
  for (const Number number : calls_.all()) {
    if (calls_.find(number)->sent) complete(number, error);
  }
}

void Engine::lose(HeldLease& lease, LossReason reason, std::optional<LeaseState> state) {
  const LeaseInfo& info = lease.grant.lease;
  Event event;
  event.kind = EventKind::lease_lost;
  event.lease_id = info.lease_id;
  event.fencing_token = info.fencing_token;
  event.reason = reason;
  event.state = state;
  leases_.lose(lease, {info.lease_id, info.fencing_token, reason, state});
  tell_loss(lease);
  tell(std::move(event));
}

void Engine::tell_loss(const HeldLease& lease) {
  news_.emplace_back([this, serial = lease.serial] {
    HeldLease* lost = leases_.find(serial);
    if (lost == nullptr || lost->loss_told || !lost->on_lost) return;
    lost->loss_told = true;
    // The callback may destroy the lease, and with it itself.
    const auto callback = std::move(lost->on_lost);
    const Loss loss = *lost->loss;
    callback(loss);
  });
  arm();
}

void Engine::on_event(Client::OnEvent callback) {
  on_event_ = std::move(callback);
  if (!on_event_) return;
  for (Event& event : std::exchange(unheard_, {})) tell(std::move(event));
  arm();
}

void Engine::tell(Event event) {
  news_.emplace_back([this, event = std::move(event)] {
    if (on_event_) return on_event_(event);
    if (unheard_.size() < max_unheard) unheard_.push_back(event);
  });
}

}  // namespace starlease::client

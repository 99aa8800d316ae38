// Audit events of requests; see the header.
#include "lib/service/audited.hpp"

namespace starlease::service {
namespace {

using core::AuditEvent;
using core::AuditType;

/// What a call itself says; nothing for calls that touch no lease.
struct FromCall {
  AuditEvent& event;

  bool operator()(const core::AcquireCall& call) const {
    event.type = AuditType::target_lease_acquire;
    event.request_id = call.request_id;
    event.work = call.work;
    event.requested_ttl = call.ttl;
    return true;
  }
  bool operator()(const core::RenewCall& call) const {
    event.type = AuditType::target_lease_renew;
    event.request_id = call.request_id;
    event.lease_id = call.lease_id;
    event.token = call.token;
    event.requested_ttl = call.ttl;
    return true;
  }
  bool operator()(const core::ReleaseCall& call) const {
    event.type = AuditType::target_lease_release;
    event.request_id = call.request_id;
    event.lease_id = call.lease_id;
    event.token = call.token;
    return true;
  }
  bool operator()(const core::InspectCall& call) const {
    event.type = AuditType::target_lease_inspect;
    event.lease_id = call.lease_id;
    return true;
  }
  bool operator()(const core::ResolveCall& call) const {
    event.type = AuditType::target_lease_resolve;
    event.request_id = call.request_id;
    return true;
  }
  bool operator()(const core::CommitCall& call) const {
    event.type = AuditType::target_lease_commit;
    event.request_id = call.request_id;
    event.lease_id = call.envelope.lease_id;
    event.token = call.envelope.token;
    event.work.execution = call.envelope.execution;
    event.work.trace = call.envelope.trace;
    return true;
  }
  bool operator()(const core::InvalidateCall& call) const {
    event.type = call.operation == core::Operation::revoke ? AuditType::target_lease_revoke
                                                           : AuditType::target_lease_force_release;
    event.request_id = call.request_id;
    event.lease_id = call.lease_id;
    event.token = call.token;
    event.reason = call.reason;
    event.key_id = call.key_id;
    return true;
  }
  bool operator()(const core::DocumentCall&) const {
    event.type = AuditType::target_lease_document;
    return true;
  }
  bool operator()(const core::ListCall&) const {
    event.type = AuditType::target_lease_list;
    return true;
  }
  bool operator()(const core::HistoryCall&) const {
    event.type = AuditType::target_lease_history;
    return true;
  }
  bool operator()(const core::HelloCall&) const { return false; }
  bool operator()(const core::PingCall&) const { return false; }
  bool operator()(const core::GoodbyeCall&) const { return false; }
  bool operator()(const core::NamespaceCall&) const { return false; }
  bool operator()(const core::StatsCall&) const { return false; }
};

/// What the answer adds.
struct FromAnswer {
  AuditEvent& event;

  void operator()(const core::GrantAnswer& answer) const {
    event.code = answer.renewed ? "lease_renewed" : "lease_acquired";
    event.identity = answer.identity;
    event.lease_id = answer.grant.lease_id;
    event.token = answer.grant.token;
    event.effective_ttl = answer.grant.ttl;
    event.resulting_state = answer.replay ? answer.replay->current_state : answer.state;
  }
  void operator()(const core::ReleasedAnswer& answer) const {
    event.code = "lease_released";
    event.token = answer.token;
    event.resulting_state = core::LeaseState::released;
  }
  void operator()(const core::InspectedAnswer& answer) const {
    event.code = "lease_inspected";
    event.identity = answer.identity;
    event.lease_id = answer.grant.lease_id;
    event.resulting_state = answer.state;
  }
  void operator()(const core::ResolvedAnswer& answer) const {
    event.code = "lease_resolved";
    event.resulting_state = answer.current_state;
  }
  void operator()(const core::CommittedAnswer& answer) const {
    event.code = answer.revision > 0 ? "lease_committed" : "lease_commit_authorized";
    if (answer.replay) event.resulting_state = answer.replay->current_state;
  }
  void operator()(const core::InvalidatedAnswer& answer) const {
    const bool revoked = answer.operation == core::Operation::revoke;
    event.code = revoked ? "lease_revoked" : "lease_force_released";
    event.resulting_state = revoked ? core::LeaseState::revoked : core::LeaseState::released;
  }
  void operator()(const core::DocumentAnswer& answer) const {
    event.code = "lease_inspected";
    event.lease_id = answer.document.lease_id;
  }
  void operator()(const core::ListedAnswer&) const { event.code = "lease_listed"; }
  void operator()(const core::HistoryAnswer& answer) const {
    event.code = "lease_history";
    if (!answer.history.empty()) event.identity = answer.history.front().identity;
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

AnswerDone audited(const Seams& seams, const Session& session, const CallContext& context,
                   const core::Call& call, ReplyDone done) {
  AuditEvent event;
  if (!std::visit(FromCall{event}, call)) {
    return [correlation = context.correlation,
            done = std::move(done)](core::Outcome<core::Answer> outcome) mutable {
      done({std::move(correlation), std::move(outcome)});
    };
  }
  event.correlation_id = context.correlation;
  event.decision_id = context.decision;
  event.principal_class = session.principal->principal_class;
  event.owner = session.owner;
  return [&seams, event = std::move(event), received_at = context.received_at,
          done = std::move(done)](core::Outcome<core::Answer> outcome) mutable {
    event.at = seams.clock.wall_now();
    event.latency = seams.clock.boot_now() - received_at;
    if (outcome) {
      std::visit(FromAnswer{event}, *outcome);
    } else {
      if (event.type == AuditType::target_lease_commit) {
        event.type = AuditType::target_lease_commit_rejected;
      }
      event.code = core::name(outcome.error().code);
      event.retryable = core::retryable(outcome.error().code);
    }
    seams.audit.record(event);
    done({event.correlation_id, std::move(outcome)});
  };
}

}  // namespace starlease::service

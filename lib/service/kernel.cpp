// Shared parts of the service; see the header.
#include "lib/service/kernel.hpp"

#include <algorithm>

namespace starlease::service {

Kernel::Kernel(const Settings& s, const Seams& e)
    : settings(s),
      seams(e),
      ids(e.random, e.clock),
      sessions(e.local_state.resume_key(), s.admission.max_sessions),
      loss(s, e, held),
      recovery(s, e, ids),
      renewer(s, e, held, loss, recovery),
      releaser(s, e, ids, recovery),
      waiters(s.admission),
      sweeper(e, ids, recovery) {}

void Kernel::keep(std::uint64_t number, std::unique_ptr<PendingOperation> operation) {
  if (Session* session = sessions.find(operation->session())) session->pending.insert(number);
  operations_.emplace(number, std::move(operation));
}

PendingOperation* Kernel::pending(std::uint64_t number) {
  const auto found = operations_.find(number);
  return found == operations_.end() ? nullptr : found->second.get();
}

void Kernel::finished(std::uint64_t number) {
  auto node = operations_.extract(number);
  SL_ASSERT(!node.empty());
  if (Session* session = sessions.find(node.mapped()->session())) session->pending.erase(number);
  finished_.push_back(std::move(node.mapped()));
}

void Kernel::store_may_serve() {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(operations_.size());
  for (const auto& [number, operation] : operations_) numbers.push_back(number);
  std::ranges::sort(numbers);  // in the order of arrival
  for (const std::uint64_t number : numbers) {
    if (PendingOperation* operation = pending(number)) operation->store_may_serve();
  }
}

void Kernel::session_gone(Session& session) {
  const std::vector<std::uint64_t> numbers(session.pending.begin(), session.pending.end());
  for (const std::uint64_t number : numbers) {
    if (PendingOperation* operation = pending(number)) operation->session_gone();
  }
}

HeldLease* Kernel::held_by(const Session& session, const core::LeaseId& lease_id) {
  const auto digest = core::lock_of(lease_id);
  HeldLease* lease = digest ? held.find(*digest) : nullptr;
  const bool ours = lease != nullptr && lease->session == &session &&
                    lease->texts.at(PackedTexts::lease_id) == lease_id.value;
  return ours ? lease : nullptr;
}

bool Kernel::is_known(const core::Owner& owner, const core::LockDigest& digest,
                      const core::LeaseId& lease_id) {
  const Session* session = sessions.find(owner.instance);
  return held.is_held(digest, lease_id) || (session != nullptr && session->told_lost(lease_id));
}

HeldLease& Kernel::hold(const HoldRequest& request, const store::Head& head, Session& session) {
  HeldLease* lease = held.find(request.digest);
  if (lease != nullptr && (lease->session != &session || lease->texts.at(PackedTexts::lease_id) !=
                                                             request.grant.lease_id.value)) {
    // The store granted the lock anew, so what we had on it had ended there.
    loss.lose(*lease, core::LossReason::renewal_rejected, std::nullopt);
    lease = nullptr;
  }
  const bool first = lease == nullptr && session.lease_count == 0;
  if (lease == nullptr) lease = &held.add(request, session);
  renewer.confirmed(*lease, head, request.grant.expires_at);
  recovery.granted(partition(request.digest), request.grant.token);
  if (first && session.online()) session.sink->watch_peer();
  return *lease;
}

void Kernel::drop_if_done(Session& session) {
  if (session.done(now())) sessions.erase(session.id);
}

core::Failure failure_of(const store::Head& head) {
  using core::FailureCode;
  switch (head.status) {
    case store::Status::conflict:
      return core::failure(FailureCode::lease_conflict,
                           head.retry_after.value_or(default_retry_after));
    case store::Status::lost:
      return core::failure(FailureCode::lease_lost);
    case store::Status::idempotency_conflict:
      return core::failure(FailureCode::idempotency_conflict);
    case store::Status::not_found:
      return core::failure(FailureCode::lease_not_found);
    case store::Status::deadline_exceeded:
      return core::failure(FailureCode::deadline_exceeded);
    case store::Status::unknown:
      return core::failure(FailureCode::lease_outcome_unknown);
    case store::Status::grace: {
      auto waits = core::failure(FailureCode::lease_backend_unavailable,
                                 head.retry_after.value_or(default_retry_after));
      waits.message =
          "The lease store was recovered; nothing is granted before every earlier lease has ended";
      return waits;
    }
    case store::Status::recovering:
    case store::Status::unavailable:
      return core::failure(FailureCode::lease_backend_unavailable,
                           head.retry_after.value_or(default_retry_after));
    case store::Status::quarantined:
    case store::Status::exhausted:
      // Only an administrator can help: retrying soon is pointless, so no time is named.
      return core::failure(FailureCode::lease_backend_unavailable);
    case store::Status::commit_conflict:
      return core::failure(FailureCode::commit_conflict);
    case store::Status::full: {
      auto full = core::failure(FailureCode::lease_rate_limited);
      full.message = "This identity has as many documents as it may; write to one that is there";
      return full;
    }
    case store::Status::ok:
      break;
  }
  SL_UNREACHABLE();
}

}  // namespace starlease::service

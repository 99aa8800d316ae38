// Background releases; see the header.
#include "lib/service/releaser.hpp"

#include "lib/service/lease_schedule.hpp"
#include "lib/service/recovery.hpp"

namespace starlease::service {
namespace {

/// Enough to keep the store busy, little enough to leave room for renewals.
constexpr std::size_t in_flight_max = 256;
constexpr Milliseconds attempt{1000};
constexpr Milliseconds retry_after{100};

}  // namespace

void Releaser::release(store::Holder holder, std::string principal_class, BootTime until) {
  if (!leases_.insert(holder.lease_id).second) return;
  store::ReleaseCommand command;
  command.audit.request_id = ids_.request();
  command.audit.correlation_id = ids_.correlation();
  command.audit.decision_id = ids_.decision();
  command.audit.principal_class = std::move(principal_class);
  command.idempotency.scope = core::idempotency_scope(
      core::Operation::release, holder.digest, holder.owner.principal, command.audit.request_id);
  command.idempotency.digest = core::request_digest(
      core::ReleaseCall{holder.lease_id, holder.token, command.audit.request_id, {}}, holder.owner);
  // Nobody but this retry loop can repeat the request, so its record need not outlive it.
  command.idempotency.retention = std::max(settings_.policy.maximum_ttl, Milliseconds(10'000));
  command.idempotency.refusal_retention = Milliseconds(0);
  command.terminal_retention = core::replay_retention(settings_.policy);
  command.holder = std::move(holder);
  queue_.push_back({std::move(command), until});
  pump();
}

void Releaser::when_idle(std::move_only_function<void()> idle) {
  idle_ = std::move(idle);
  pump();
}

void Releaser::pump() {
  const BootTime now = seams_.clock.boot_now();
  while (!queue_.empty() && in_flight_ < in_flight_max) {
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    if (entry.until <= now) {
      done_with(entry);
      continue;
    }
    ++in_flight_;
    store::ReleaseCommand command = entry.command;
    const BootTime deadline = std::min(entry.until, now + attempt);
    seams_.store.release(std::move(command), deadline,
                         [this, entry = std::move(entry)](store::ReleaseResult result) mutable {
                           --in_flight_;
                           on_answer(std::move(entry), result);
                         });
  }
  if (queue_.empty() && in_flight_ == 0 && idle_) std::exchange(idle_, nullptr)();
}

void Releaser::on_answer(Entry entry, const store::ReleaseResult& result) {
  recovery_.observe(core::partition_of(entry.command.holder.digest, seams_.store.partition_count()),
                    result.head);
  switch (result.head.status) {
    case store::Status::unavailable:
    case store::Status::unknown:
    case store::Status::deadline_exceeded:
    case store::Status::recovering:
    case store::Status::grace: {
      queue_.push_back(std::move(entry));
      if (!retry_) {
        retry_ = seams_.timers.at(seams_.clock.boot_now() + retry_after, [this] {
          retry_.reset();
          pump();
        });
      }
      return;
    }
    case store::Status::ok:
    case store::Status::conflict:
    case store::Status::lost:
    case store::Status::idempotency_conflict:
    case store::Status::not_found:
    case store::Status::quarantined:
    case store::Status::exhausted:
    case store::Status::commit_conflict:
    case store::Status::full:
      done_with(entry);
      pump();
      return;
  }
}

}  // namespace starlease::service

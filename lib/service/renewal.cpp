// Timed renewals; see the header.
#include "lib/service/renewal.hpp"

#include <algorithm>

#include "lib/service/lease_schedule.hpp"
#include "lib/service/recovery.hpp"

namespace starlease::service {
namespace {

/// Sequences begin at wall-clock milliseconds, so this is eleven days of clock error.
constexpr std::int64_t sequence_step = 1'000'000'000;

/// Neither given back, nor left to expire, nor at the end of its lifetime.
bool wanted(const HeldLease& lease) {
  return lease.automatic && !lease.releasing && lease.session->online() && extendable(lease);
}

}  // namespace

void Renewer::confirmed(HeldLease& lease, const store::Head& head, core::BackendTime expires_at) {
  lease.renewed_at_ms = core::unix_ms(head.now);
  lease.expires_at_ms = core::unix_ms(expires_at);
  lease.valid_until = core::valid_until(settings_.policy, head.sent_at, expires_at - head.now);
  lease.failures = 0;
  const auto acquired_at = core::backend_time(lease.acquired_at_ms);
  lease.lifetime_end = head.sent_at + (acquired_at + Milliseconds(lease.lifetime_ms) - head.now);
  const auto jitter = static_cast<std::int64_t>(seams_.random.below(2'000'001)) - 1'000'000;
  lease.renew_due = wanted(lease)
                        ? renewal_due(head.sent_at, lease.ttl(), settings_.renewal_tick, jitter)
                        : BootTime::max();
  reschedule(lease);
}

void Renewer::reschedule(HeldLease& lease) {
  held_.schedule(lease, next_due(settings_.policy, lease));
}

void Renewer::hurry(HeldLease& lease, BootTime now) {
  if (lease.releasing) return;
  lease.renew_due = now;
  reschedule(lease);
}

void Renewer::collect(HeldLease& lease) {
  SL_ASSERT(!lease.renewing);
  const std::uint32_t partitions = seams_.store.partition_count();
  if (batches_.size() < partitions) batches_.resize(partitions);
  const std::uint32_t partition = core::partition_of(lease.digest, partitions);
  Batch& batch = batches_[partition];
  if (batch.asked.empty()) collected_.push_back(partition);
  lease.renewing = true;
  lease.renew_due = BootTime::max();
  ++lease.sequence;
  batch.renewals.push_back({{lease.digest, lease.lease_id(), lease.token, lease.session->owner},
                            lease.ttl(),
                            lease.sequence});
  batch.asked.push_back({lease.digest, lease.serial, lease.sequence});
  batch.shortest_ttl = std::min(batch.shortest_ttl, lease.ttl());
  reschedule(lease);
  if (batch.asked.size() == core::limits::renewals_per_call) send(partition);
}

void Renewer::flush() {
  for (const std::uint32_t partition : std::exchange(collected_, {})) {
    if (!batches_[partition].asked.empty()) send(partition);
  }
}

void Renewer::send(std::uint32_t partition) {
  Batch batch = std::exchange(batches_[partition], {});
  std::erase(collected_, partition);
  ++calls_;
  const BootTime deadline = seams_.clock.boot_now() + attempt_timeout(batch.shortest_ttl);
  seams_.store.renew_timed(
      std::move(batch.renewals), deadline,
      [this, partition, asked = std::move(batch.asked)](store::TimedRenewalsResult result) {
        recovery_.observe(partition, result.head);
        on_answer(asked, result);
      });
}

void Renewer::on_answer(const std::vector<Asked>& asked, const store::TimedRenewalsResult& result) {
  const bool answered = result.head.status == store::Status::ok;
  SL_ASSERT(!answered || result.results.size() == asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    HeldLease* lease = held_.find(asked[i].digest);
    // Lost, released or replaced meanwhile: a late answer has nothing to say.
    if (lease == nullptr || lease->serial != asked[i].serial) continue;
    if (lease->sequence != asked[i].sequence || !lease->renewing) continue;
    lease->renewing = false;
    if (answered) {
      on_result(*lease, result.head, result.results[i]);
    } else {
      on_failure(*lease);
    }
  }
}

void Renewer::on_result(HeldLease& lease, const store::Head& head,
                        const store::TimedRenewalResult& result) {
  if (result.status == store::Status::ok) {
    ++renewed_;
    const bool advanced = core::unix_ms(result.expires_at) > lease.expires_at_ms;
    // A record that has seen a higher sequence (from a daemon whose clock was ahead) takes ours for
    // a replay and stays as it is: step over it.
    if (!advanced && extendable(lease)) lease.sequence += sequence_step;
    confirmed(lease, head, result.expires_at);
    if (lease.check_again) {
      lease.check_again = false;
      hurry(lease, seams_.clock.boot_now());
    }
    Session& session = *lease.session;
    if (session.notify_renewed) {
      const BootTime now = seams_.clock.boot_now();
      session.tell(core::LeaseRenewedNotice{lease.lease_id(), lease.token, result.expires_at,
                                            base::floor_ms(lease.valid_until - now),
                                            lease.valid_until});
    }
    return;
  }
  if (lease.releasing) return;  // its own release came first; the release's answer ends it
  if (result.state == core::LeaseState::revoked) {
    const bool new_epoch = head.epoch != lease.epoch;
    loss_.lose(lease, new_epoch ? core::LossReason::recovered : core::LossReason::revoked,
               result.state);
  } else if (result.state == core::LeaseState::expired) {
    loss_.lose(lease, core::LossReason::expired, result.state);
  } else if (result.state == core::LeaseState::released) {
    loss_.lose(lease, result.forced ? core::LossReason::force_released : core::LossReason::released,
               result.state);
  } else {
    loss_.lose(lease, core::LossReason::renewal_rejected, std::nullopt);
  }
}

void Renewer::on_failure(HeldLease& lease) {
  const Milliseconds delay = retry_delay(lease.ttl(), lease.failures);
  if (lease.failures < UINT8_MAX) ++lease.failures;
  const auto jitter =
      Milliseconds(seams_.random.below(static_cast<std::uint64_t>(delay.count()) + 1));
  if (wanted(lease)) lease.renew_due = seams_.clock.boot_now() + delay / 2 + jitter / 2;
  reschedule(lease);
}

}  // namespace starlease::service

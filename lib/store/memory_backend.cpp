// The contract's rules over plain maps; see the header. Each operation reads the clock once and
// does all or nothing.
#include "lib/store/memory_backend.hpp"

#include <algorithm>

#include "lib/store/memory_backend_answers.hpp"

namespace starlease::store {
namespace {

using core::LeaseState;

constexpr Milliseconds clock_step_back{5000};

/// Never beyond the maximum lifetime, and never before the end so far: somebody may rely on that.
BackendTime renewed_end(const core::LeaseRecord& record, BackendTime now, Milliseconds ttl) {
  const BackendTime latest = record.grant.acquired_at + record.maximum_lifetime;
  return std::max(record.grant.expires_at, std::min(now + ttl, latest));
}

}  // namespace

MemoryBackend::MemoryBackend(std::uint32_t partitions, Clock clock) : clock_(std::move(clock)) {
  data_.resize(partitions);
  for (std::uint32_t i = 0; i < partitions; ++i) data_[i].gate.partition = i;
}

std::uint32_t MemoryBackend::partition_count() const {
  return static_cast<std::uint32_t>(data_.size());
}

void MemoryBackend::wipe() {
  restart();
  for (Partition& partition : data_) {
    const std::uint32_t index = partition.gate.partition;
    partition = {};
    partition.gate.partition = index;
  }
}

std::int64_t MemoryBackend::counter(const core::LockDigest& digest) const {
  const Partition& partition = data_[core::partition_of(digest, partition_count())];
  const auto slot = partition.slots.find(digest);
  return slot == partition.slots.end() ? 0 : slot->second.counter;
}

const core::LeaseRecord* MemoryBackend::active(const core::LockDigest& digest) const {
  const Partition& partition = data_[core::partition_of(digest, partition_count())];
  const auto slot = partition.slots.find(digest);
  if (slot == partition.slots.end() || !slot->second.record) return nullptr;
  const core::LeaseRecord& record = *slot->second.record;
  return effective(partition, record, clock_()) == LeaseState::active ? &record : nullptr;
}

void MemoryBackend::corrupt(const core::LockDigest& digest) {
  of(digest).slots[digest].corrupt = true;
}

void MemoryBackend::notify(NoticeKind kind, std::uint32_t partition, const core::LockDigest& digest,
                           const core::LeaseId& lease_id) {
  if (on_notice_) on_notice_({kind, partition, digest, lease_id});
}

// --- the rules that every operation shares ------------------------------------------------------

MemoryBackend::Partition& MemoryBackend::of(const core::LockDigest& digest) {
  return data_[core::partition_of(digest, partition_count())];
}

/// The checks that stand before every operation: server, gate, time.
Head MemoryBackend::begin(Partition& partition, bool writes) {
  Head head;
  BackendTime now = clock_();
  Gate& gate = partition.gate;
  head.status = Status::recovering;
  head.now = now;
  if (gate.state != GateState::serving || partition.server != server_) return head;
  if (now <= gate.highest - clock_step_back) {
    if (writes) gate.state = GateState::closed;
    return head;
  }
  now = std::max(now, gate.highest);
  gate.highest = now;
  ++gate.sequence;
  head.status = Status::ok;
  head.now = now;
  head.epoch = gate.epoch;
  head.sequence = gate.sequence;
  return head;
}

LeaseState MemoryBackend::effective(const Partition& partition, const core::LeaseRecord& record,
                                    BackendTime now) {
  if (record.state != LeaseState::active) return record.state;
  if (record.epoch != partition.gate.epoch) return LeaseState::revoked;
  return now < record.grant.expires_at ? LeaseState::active : LeaseState::expired;
}

LeaseState MemoryBackend::state_of(const Partition& partition, const Slot* slot,
                                   const Remembered& remembered, BackendTime now) {
  if (remembered.ended != LeaseState::active) return remembered.ended;
  const bool granted = std::visit(
      [](const auto& result) { return result.head.status == Status::ok; }, remembered.result);
  if (!granted) return LeaseState::expired;  // of no lease that can be told
  if (slot != nullptr && slot->record && slot->record->grant.lease_id == remembered.lease_id) {
    return effective(partition, *slot->record, now);
  }
  const auto acquired = partition.remembered.find(remembered.acquire_scope);
  if (acquired != partition.remembered.end() && acquired->second.lease_id == remembered.lease_id &&
      acquired->second.ended != LeaseState::active) {
    return acquired->second.ended;
  }
  return remembered.epoch != partition.gate.epoch ? LeaseState::revoked : LeaseState::expired;
}

bool MemoryBackend::holds(const core::LeaseRecord& record, const Holder& holder) {
  return record.grant.lease_id == holder.lease_id && record.grant.token == holder.token &&
         record.owner.principal == holder.owner.principal &&
         record.owner.instance == holder.owner.instance;
}

template <class Result>
Result MemoryBackend::lost(Partition& partition, const Slot& slot, const Holder& holder,
                           const Idempotency& key, const Head& head) {
  Result result;
  result.head = head;
  result.head.status = Status::lost;
  LeaseState state = LeaseState::active;
  if (slot.record && holds(*slot.record, holder)) {
    state = effective(partition, *slot.record, head.now);
    if constexpr (requires { result.state; }) result.state = state;
  }
  if (Remembered* kept = remember(partition, key, head, result, nullptr)) kept->ended = state;
  return result;
}

void MemoryBackend::end(Partition& partition, const core::LockDigest& digest, LeaseState state,
                        BackendTime now, std::string reason) {
  Slot& slot = partition.slots[digest];
  slot.record->state = state;
  slot.record->ended_at = now;
  slot.record->end_reason = std::move(reason);
  const auto acquired = partition.remembered.find(slot.acquire_scope);
  if (acquired != partition.remembered.end()) acquired->second.ended = state;
  partition.history.push_back({++last_evidence_, digest, *slot.record});
}

void MemoryBackend::end_overdue(Partition& partition, const core::LockDigest& digest) {
  const core::LeaseRecord& record = *partition.slots[digest].record;
  if (record.epoch == partition.gate.epoch) {
    end(partition, digest, LeaseState::expired, record.grant.expires_at, "expired");
  } else {
    end(partition, digest, LeaseState::revoked, partition.recovered_at, "recovered");
  }
}

Milliseconds MemoryBackend::delay_left(const Partition& partition, const Slot& slot,
                                       Milliseconds lock_delay, BackendTime now) {
  if (!slot.record) return Milliseconds(0);
  const core::LeaseRecord& record = *slot.record;
  if (record.state != LeaseState::active) {
    const bool lost = record.state == LeaseState::expired || record.end_reason == "recovered";
    return lost ? record.ended_at + lock_delay - now : Milliseconds(0);
  }
  const bool recovered = record.epoch != partition.gate.epoch;
  return (recovered ? partition.recovered_at : record.grant.expires_at) + lock_delay - now;
}

// --- operations ---------------------------------------------------------------------------------

AcquireResult MemoryBackend::acquire(const AcquireCommand& command) {
  Partition& partition = of(command.digest);
  Head head = begin(partition);
  if (head.status != Status::ok) return refused<AcquireResult>(head, head.status);
  Slot& slot = partition.slots[command.digest];
  if (slot.corrupt) return refused<AcquireResult>(head, Status::quarantined);
  AcquireResult result;
  if (replay(partition, command.idempotency, &slot, head, result)) return result;
  if (head.now < partition.gate.grace_until) {
    head.retry_after = partition.gate.grace_until - head.now;
    return refused<AcquireResult>(head, Status::grace);
  }
  result.head = head;
  if (slot.record && effective(partition, *slot.record, head.now) == LeaseState::active) {
    const core::LeaseRecord& holder = *slot.record;
    result.head.status = Status::conflict;
    result.head.retry_after = holder.grant.expires_at - head.now;
    const bool own = holder.owner.principal == command.owner.principal &&
                     holder.owner.instance == command.owner.instance;
    if (own) result.own_lease_id = holder.grant.lease_id;
    remember(partition, command.idempotency, head, result, nullptr);
    return result;
  }
  if (const Milliseconds left = delay_left(partition, slot, command.lock_delay, head.now);
      left.count() > 0) {
    result.head.status = Status::conflict;
    result.head.retry_after = left;
    remember(partition, command.idempotency, head, result, nullptr);
    return result;
  }
  const std::int64_t token = std::max(slot.counter, partition.gate.token_floor.value) + 1;
  if (token > core::limits::maximum_token) {
    return refused<AcquireResult>(head, Status::exhausted);
  }
  // The record goes; how its lease ended stays with the acquisition, and in the history.
  if (slot.record && slot.record->state == LeaseState::active) {
    end_overdue(partition, command.digest);
  }
  slot.counter = token;
  slot.acquire_scope = command.idempotency.scope.value;
  slot.sequence = 0;
  partition.largest_ttl = std::max(partition.largest_ttl, command.ttl);
  core::LeaseRecord record;
  record.identity = command.identity;
  record.owner = command.owner;
  record.grant = {command.candidate,      {token},    head.now, head.now,
                  head.now + command.ttl, command.ttl};
  record.maximum_lifetime = command.maximum_lifetime;
  record.work = command.work;
  record.request_id = command.audit.request_id;
  record.metadata = command.metadata;
  record.epoch = partition.gate.epoch;
  slot.record = record;
  result.grant = record.grant;
  result.current_expires_at = record.grant.expires_at;
  remember(partition, command.idempotency, head, result, &record);
  return result;
}

TimedRenewalsResult MemoryBackend::renew_timed(const std::vector<TimedRenewal>& renewals) {
  Partition& partition = of(renewals.front().holder.digest);
  TimedRenewalsResult result;
  result.head = begin(partition);
  if (result.head.status != Status::ok) return result;
  const BackendTime now = result.head.now;
  for (const TimedRenewal& renewal : renewals) {
    Slot& slot = partition.slots[renewal.holder.digest];
    TimedRenewalResult& one = result.results.emplace_back();
    if (slot.corrupt) {
      one.status = Status::quarantined;
      continue;
    }
    if (!slot.record || !holds(*slot.record, renewal.holder)) continue;
    const LeaseState state = effective(partition, *slot.record, now);
    if (state != LeaseState::active) {
      one.state = state;
      one.forced = slot.record->end_reason == "force_released";
      continue;
    }
    core::Grant& grant = slot.record->grant;
    one.status = Status::ok;
    if (renewal.sequence > slot.sequence) {
      slot.sequence = renewal.sequence;
      grant.renewed_at = now;
      grant.expires_at = renewed_end(*slot.record, now, renewal.ttl);
      grant.ttl = grant.expires_at - now;
      partition.largest_ttl = std::max(partition.largest_ttl, grant.ttl);
    }
    one.expires_at = grant.expires_at;
  }
  return result;
}

RenewResult MemoryBackend::renew(const RenewCommand& command) {
  Partition& partition = of(command.holder.digest);
  Head head = begin(partition);
  if (head.status != Status::ok) return refused<RenewResult>(head, head.status);
  Slot& slot = partition.slots[command.holder.digest];
  if (slot.corrupt) return refused<RenewResult>(head, Status::quarantined);
  RenewResult result;
  if (replay(partition, command.idempotency, &slot, head, result)) return result;
  result.head = head;
  const bool held = slot.record && holds(*slot.record, command.holder) &&
                    effective(partition, *slot.record, head.now) == LeaseState::active;
  if (!held) {
    return lost<RenewResult>(partition, slot, command.holder, command.idempotency, head);
  }
  core::LeaseRecord& record = *slot.record;
  record.grant.renewed_at = head.now;
  record.grant.expires_at = renewed_end(record, head.now, command.ttl);
  record.grant.ttl = record.grant.expires_at - head.now;
  partition.largest_ttl = std::max(partition.largest_ttl, record.grant.ttl);
  result.grant = record.grant;
  result.current_expires_at = record.grant.expires_at;
  if (Remembered* kept = remember(partition, command.idempotency, head, result, &record)) {
    kept->acquire_scope = slot.acquire_scope;
  }
  result.record = record;
  return result;
}

ReleaseResult MemoryBackend::release(const ReleaseCommand& command) {
  Partition& partition = of(command.holder.digest);
  Head head = begin(partition);
  if (head.status != Status::ok) return refused<ReleaseResult>(head, head.status);
  Slot& slot = partition.slots[command.holder.digest];
  if (slot.corrupt) return refused<ReleaseResult>(head, Status::quarantined);
  ReleaseResult result;
  if (replay(partition, command.idempotency, &slot, head, result)) return result;
  result.head = head;
  const bool held = slot.record && holds(*slot.record, command.holder) &&
                    effective(partition, *slot.record, head.now) == LeaseState::active;
  if (!held) {
    return lost<ReleaseResult>(partition, slot, command.holder, command.idempotency, head);
  }
  end(partition, command.holder.digest, LeaseState::released, head.now, "released");
  result.released_at = head.now;
  result.lease_id = command.holder.lease_id;
  result.token = command.holder.token;
  if (Remembered* kept = remember(partition, command.idempotency, head, result, nullptr)) {
    kept->ended = LeaseState::released;
  }
  notify(NoticeKind::released, partition.gate.partition, command.holder.digest,
         command.holder.lease_id);
  return result;
}

InspectResult MemoryBackend::inspect(const InspectCommand& command) {
  Partition& partition = of(command.digest);
  const Head head = begin(partition, false);
  if (head.status != Status::ok) return refused<InspectResult>(head, head.status);
  Slot& slot = partition.slots[command.digest];
  if (slot.corrupt) return refused<InspectResult>(head, Status::quarantined);
  const bool meant =
      slot.record && (!command.lease_id || *command.lease_id == slot.record->grant.lease_id);
  if (!meant) return refused<InspectResult>(head, Status::not_found);
  InspectResult result;
  result.head = head;
  result.record = slot.record;
  result.record->state = effective(partition, *slot.record, head.now);
  if (result.record->state != slot.record->state) {
    const bool expired = result.record->state == LeaseState::expired;
    result.record->ended_at = expired ? slot.record->grant.expires_at : partition.recovered_at;
    result.record->end_reason = expired ? "expired" : "recovered";
  }
  return result;
}

ResolveResult MemoryBackend::resolve(const ResolveCommand& command) {
  Partition& partition = of(command.digest);
  const Head head = begin(partition, false);
  if (head.status != Status::ok) return refused<ResolveResult>(head, head.status);
  if (partition.slots[command.digest].corrupt) {
    return refused<ResolveResult>(head, Status::quarantined);
  }
  const auto found = partition.remembered.find(command.scope.value);
  if (found == partition.remembered.end() || found->second.until <= head.now) {
    return refused<ResolveResult>(head, Status::not_found);
  }
  ResolveResult result;
  result.head = head;
  result.outcome = found->second.result;
  result.current_state =
      state_of(partition, &partition.slots[command.digest], found->second, head.now);
  return result;
}

SweepResult MemoryBackend::sweep(const SweepCommand& command) {
  Partition& partition = data_[command.partition];
  const Head head = begin(partition);
  if (head.status != Status::ok) return refused<SweepResult>(head, head.status);
  SweepResult result;
  result.head = head;
  // In the order of their ends: so they stand in the history.
  std::vector<std::pair<BackendTime, core::LockDigest>> overdue;
  for (const auto& [digest, slot] : partition.slots) {
    const bool due = slot.record && slot.record->state == LeaseState::active && !slot.corrupt &&
                     slot.record->grant.expires_at <= head.now;
    if (due) overdue.emplace_back(slot.record->grant.expires_at, digest);
  }
  std::ranges::sort(overdue);
  for (const auto& [expires_at, digest] : overdue) {
    if (result.ended == command.limit) break;
    end_overdue(partition, digest);
    ++result.ended;
    const core::LeaseId& lease_id = partition.slots[digest].record->grant.lease_id;
    notify(NoticeKind::expired, command.partition, digest, lease_id);
  }
  result.more = result.ended == command.limit;
  return result;
}

// --- gate ---------------------------------------------------------------------------------------

GateResult MemoryBackend::read_gate(std::uint32_t index) {
  const Partition& partition = data_[index];
  GateResult result;
  result.head.status = Status::ok;
  result.head.now = clock_();
  result.gate = partition.gate;
  const bool stepped_back = result.head.now <= partition.gate.highest - clock_step_back;
  result.gate.on_this_server = partition.server == server_;
  if (result.gate.on_this_server && result.gate.state == GateState::serving && stepped_back) {
    result.gate.state = GateState::closed;
  }
  result.gate.observed =
      std::to_string(partition.gate.epoch.value) + ":" + std::to_string(partition.server);
  result.head.epoch = partition.gate.epoch;
  return result;
}

GateResult MemoryBackend::init_gate(const InitGateCommand& command) {
  Partition& partition = data_[command.partition];
  GateResult result;
  if (partition.gate.state != GateState::absent) {
    result.head.status = Status::conflict;
    return result;
  }
  const BackendTime now = clock_();
  const std::int64_t floor = core::unix_ms(now) * 1000;
  partition.gate.state = GateState::serving;
  partition.gate.epoch = {floor};
  partition.gate.token_floor = {floor};
  partition.gate.highest = now;
  partition.gate.grace_until = now;
  partition.server = server_;
  result.head = begin(partition);
  result.gate = partition.gate;
  result.gate.on_this_server = true;
  return result;
}

RecoverResult MemoryBackend::recover(const RecoverCommand& command, BackendTime daemon_time) {
  Partition& partition = data_[command.partition];
  Gate& gate = partition.gate;
  RecoverResult result;
  const BackendTime now = clock_();
  const auto observed = std::to_string(gate.epoch.value) + ":" + std::to_string(partition.server);
  if (observed != command.observed) {
    result.head.status = Status::conflict;
    return result;
  }
  const Milliseconds apart = now > daemon_time ? now - daemon_time : daemon_time - now;
  const bool unkept = command.keep_leases &&
                      (gate.state != GateState::serving || gate.sequence < command.seen_sequence);
  const bool clocks_differ = apart > command.clock_tolerance || now < gate.highest;
  if (unkept || clocks_differ) {
    result.head.status = Status::unavailable;
    if (!unkept) result.head.retry_after = command.clock_tolerance;
    return result;
  }
  if (!command.keep_leases) {
    const std::int64_t floor = std::max(
        {core::unix_ms(now) * 1000, gate.token_floor.value + 1, command.seen_token.value + 1});
    const Milliseconds longest = std::max(command.least_grace, partition.largest_ttl);
    gate.epoch = {floor};
    gate.token_floor = {floor};
    partition.recovered_at = now;
    const bool waits = command.grace == RecoveryGrace::ttl;
    gate.grace_until = waits ? std::max(gate.grace_until, now + longest) : now;
  }
  gate.state = GateState::serving;
  partition.server = server_;
  result.head = begin(partition);
  result.gate = gate;
  result.gate.on_this_server = true;
  if (!command.keep_leases) notify(NoticeKind::recovered, command.partition, {}, {});
  return result;
}

}  // namespace starlease::store

// Recovery of partitions; see the header.
#include "lib/service/recovery.hpp"

#include <algorithm>

namespace starlease::service {
namespace {

constexpr Milliseconds gate_timeout{2000};
constexpr Milliseconds retry_base{50};
constexpr Milliseconds retry_longest{1000};
/// trust-durable compares with what was saved; saving more often would cost a sync per mutation.
constexpr Milliseconds save_interval{500};

}  // namespace

Recovery::Recovery(const Settings& settings, const Seams& seams, core::IdFactory& ids)
    : settings_(settings), seams_(seams), ids_(ids), saved_(seams.local_state.load()) {
  partitions_.resize(seams_.store.partition_count());
  for (std::uint32_t i = 0; i < partitions_.size(); ++i) {
    partitions_[i].index = i;
    if (const auto known = saved_.find(i); known != saved_.end())
      partitions_[i].seen = known->second;
  }
}

void Recovery::on_link(bool up) {
  link_up_ = up;
  for (Partition& partition : partitions_) {
    partition.timer.reset();
    partition.waited = false;
    partition.failures = 0;
    if (up) {
      read(partition);
    } else {
      partition.phase = Phase::down;
    }
  }
  update_state();
}

bool Recovery::ready(std::uint32_t partition) const {
  return partitions_[partition].phase == Phase::ready;
}

void Recovery::observe(std::uint32_t index, const store::Head& head) {
  Partition& partition = partitions_[index];
  if (head.sequence > partition.seen.sequence) {
    partition.seen.sequence = head.sequence;
    schedule_save();
  }
  if (head.status != store::Status::recovering || partition.phase != Phase::ready) return;
  read(partition);
  update_state();
}

void Recovery::granted(std::uint32_t index, core::FencingToken token) {
  Partition& partition = partitions_[index];
  partition.seen.token = std::max(partition.seen.token, token);
}

void Recovery::on_recovered_notice(std::uint32_t index) {
  if (link_up_ && partitions_[index].phase == Phase::ready) read(partitions_[index]);
}

void Recovery::look_again(std::uint32_t index) {
  Partition& partition = partitions_[index];
  if (partition.phase != Phase::waiting) return;
  partition.timer.reset();
  read(partition);
}

BootTime Recovery::soon() const { return seams_.clock.boot_now() + gate_timeout; }

void Recovery::read(Partition& partition) {
  partition.phase = Phase::reading;
  seams_.store.read_gate(partition.index, soon(), [this, &partition](store::GateResult result) {
    if (partition.phase == Phase::reading) on_gate(partition, result);
  });
}

void Recovery::on_gate(Partition& partition, const store::GateResult& result) {
  if (result.head.status != store::Status::ok) return retry_later(partition);
  const store::Gate& gate = result.gate;
  if (gate.state == store::GateState::serving && gate.on_this_server) return serve(partition, gate);
  if (gate.state == store::GateState::absent && settings_.recovery.init_namespace &&
      partition.epoch.value == 0) {
    return init(partition);
  }
  const bool keep = settings_.recovery.on_restart == OnRestart::trust_durable &&
                    gate.state == store::GateState::serving && intact(partition, gate);
  // A floor taken twice the tolerance after the gate was found unfit exceeds any floor that another
  // server's clock can have given before. Keeping the epoch takes no floor.
  if (keep || partition.waited) return recover(partition, gate, keep);
  tell_trouble(partition, store::gate_trouble(gate));
  partition.waited = true;
  wait_then_read(partition, 2 * settings_.recovery.clock_tolerance);
}

void Recovery::wait_then_read(Partition& partition, Milliseconds delay) {
  partition.phase = Phase::waiting;
  partition.timer = seams_.timers.at(seams_.clock.boot_now() + delay, [this, &partition] {
    partition.timer.reset();
    read(partition);
  });
  update_state();
}

void Recovery::init(Partition& partition) {
  partition.phase = Phase::recovering;
  store::InitGateCommand command;
  command.partition = partition.index;
  command.audit.request_id = ids_.request();
  command.audit.correlation_id = ids_.correlation();
  seams_.store.init_gate(std::move(command), soon(), [this, &partition](store::GateResult result) {
    if (partition.phase != Phase::recovering) return;
    if (result.head.status != store::Status::ok) return retry_later(partition);
    seams_.log.info("namespace initialized", {{"partition", partition.index}});
    serve(partition, result.gate);
  });
}

/// True if the gate holds everything that was ever acknowledged, as far as this daemon can tell.
bool Recovery::intact(const Partition& partition, const store::Gate& gate) const {
  const bool readable =
      gate.state == store::GateState::serving || gate.state == store::GateState::closed;
  return readable && settings_.recovery.writes_survive && partition.seen.sequence > 0 &&
         gate.sequence >= partition.seen.sequence;
}

void Recovery::recover(Partition& partition, const store::Gate& gate, bool keep) {
  partition.phase = Phase::recovering;
  store::RecoverCommand command;
  command.partition = partition.index;
  command.observed = gate.observed;
  command.clock_tolerance = settings_.recovery.clock_tolerance;
  command.seen_token = partition.seen.token;
  command.grace = settings_.recovery.grace;
  // Data that may have gone back may have lost the very grant of the longest TTL.
  if (!intact(partition, gate)) command.least_grace = settings_.policy.maximum_ttl;
  command.keep_leases = keep;
  command.seen_sequence = partition.seen.sequence;
  command.audit.request_id = ids_.request();
  command.audit.correlation_id = ids_.correlation();
  seams_.store.recover(std::move(command), soon(),
                       [this, &partition, keep](store::RecoverResult result) {
                         if (partition.phase == Phase::recovering) {
                           on_recovered(partition, result, keep);
                         }
                       });
}

void Recovery::on_recovered(Partition& partition, const store::RecoverResult& result, bool keep) {
  if (result.head.status == store::Status::ok) {
    ++recoveries_;
    // A later gate may carry a lower sequence (data was lost): what counts from now on is this
    // one's.
    partition.seen.sequence = result.head.sequence;
    seams_.log.warning(keep ? "partition rebound, leases kept" : "partition recovered, new epoch",
                       {{"partition", partition.index}, {"epoch", result.gate.epoch.value}});
    return serve(partition, result.gate);
  }
  if (result.head.status == store::Status::conflict) return read(partition);  // another was first
  // Other refusals are told by the store, which knows what they are.
  if (result.head.status == store::Status::unavailable && result.head.retry_after) {
    tell_trouble(partition, "recovery refused: compare the clocks of this host and of the store");
  }
  retry_later(partition);
}

void Recovery::serve(Partition& partition, const store::Gate& gate) {
  const bool new_epoch = partition.epoch != gate.epoch && partition.epoch.value != 0;
  partition.epoch = gate.epoch;
  partition.phase = Phase::ready;
  partition.waited = false;
  partition.failures = 0;
  partition.trouble.clear();
  update_state();
  if (new_epoch && hooks_.on_new_epoch) hooks_.on_new_epoch(partition.index, gate.epoch);
  if (hooks_.on_ready) hooks_.on_ready(partition.index);
}

void Recovery::retry_later(Partition& partition) {
  if (!link_up_) {
    partition.phase = Phase::down;
    return;
  }
  const Milliseconds delay =
      std::min(retry_longest, retry_base * (1U << std::min(partition.failures, 8U)));
  ++partition.failures;
  wait_then_read(partition, delay);
}

void Recovery::tell_trouble(Partition& partition, const char* trouble) {
  if (partition.trouble == trouble) return;
  partition.trouble = trouble;
  seams_.log.warning("partition does not serve",
                     {{"partition", partition.index}, {"why", trouble}});
}

void Recovery::update_state() {
  core::BackendState state = core::BackendState::ready;
  for (const Partition& partition : partitions_) {
    if (partition.phase != Phase::ready) state = core::BackendState::recovering;
  }
  if (!link_up_) state = core::BackendState::unavailable;
  if (std::exchange(state_, state) == state) return;
  seams_.log.info("backend state", {{"state", core::name(state)}});
  if (hooks_.on_state) hooks_.on_state(state);
}

void Recovery::schedule_save() {
  if (save_timer_ || settings_.recovery.on_restart != OnRestart::trust_durable) return;
  save_timer_ = seams_.timers.at(seams_.clock.boot_now() + save_interval, [this] {
    save_timer_.reset();
    save();
  });
}

void Recovery::save() {
  std::map<std::uint32_t, PartitionMemory> memory;
  for (const Partition& partition : partitions_) memory.emplace(partition.index, partition.seen);
  if (memory == saved_) return;
  if (seams_.local_state.save(memory)) saved_ = std::move(memory);
}

}  // namespace starlease::service

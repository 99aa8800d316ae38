// Is each partition fit to serve, and if not, make it so: a small state machine per partition over
// what is observed of its gate. design.md 3 to 5.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lib/core/id_factory.hpp"
#include "lib/service/seams.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

class Recovery {
 public:
  /// What the rest of the service wants to know. Set before start.
  struct Hooks {
    /// The partition serves (again): waiting work may go on.
    std::function<void(std::uint32_t partition)> on_ready;
    /// A new epoch began here: every lease of an older one is gone.
    std::function<void(std::uint32_t partition, core::Epoch epoch)> on_new_epoch;
    /// The state over all partitions changed.
    std::function<void(core::BackendState state)> on_state;
  };

  Recovery(const Settings& settings, const Seams& seams, core::IdFactory& ids);
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  void on_link(bool up);
  /// Every answer of the store passes here: remembers how far it has seen, and starts recovery when
  /// the gate does not fit.
  void observe(std::uint32_t partition, const store::Head& head);
  void granted(std::uint32_t partition, core::FencingToken token);
  /// Somebody recovered the partition.
  void on_recovered_notice(std::uint32_t partition);
  /// An operator changed this partition's gate: there is no need to wait.
  void look_again(std::uint32_t partition);

  [[nodiscard]] core::BackendState state() const { return state_; }
  [[nodiscard]] bool ready(std::uint32_t partition) const;
  [[nodiscard]] std::uint64_t recoveries() const { return recoveries_; }
  /// Writes what was seen to disk now (shutdown).
  void save();

 private:
  enum class Phase : std::uint8_t {
    down,        // no link
    reading,     // the gate has been asked for
    waiting,     // the gate does not fit: wait before it is looked at again
    recovering,  // recover() is under way
    ready,
  };
  struct Partition {
    std::uint32_t index = 0;
    Phase phase = Phase::down;
    /// The gate was seen unfit and the wait since then is over.
    bool waited = false;
    core::Epoch epoch;
    unsigned failures = 0;
    base::Timer timer;
    PartitionMemory seen;
    std::string trouble;  // last logged, so that it is logged once
  };

  void read(Partition& partition);
  void on_gate(Partition& partition, const store::GateResult& result);
  void wait_then_read(Partition& partition, Milliseconds delay);
  void init(Partition& partition);
  [[nodiscard]] bool intact(const Partition& partition, const store::Gate& gate) const;
  void recover(Partition& partition, const store::Gate& gate, bool keep);
  void on_recovered(Partition& partition, const store::RecoverResult& result, bool keep);
  void serve(Partition& partition, const store::Gate& gate);
  void retry_later(Partition& partition);
  void tell_trouble(Partition& partition, const char* trouble);
  void update_state();
  void schedule_save();
  [[nodiscard]] BootTime soon() const;

  const Settings& settings_;
  const Seams& seams_;
  core::IdFactory& ids_;
  Hooks hooks_;
  std::vector<Partition> partitions_;
  bool link_up_ = false;
  core::BackendState state_ = core::BackendState::unavailable;
  std::uint64_t recoveries_ = 0;
  base::Timer save_timer_;
  std::map<std::uint32_t, PartitionMemory> saved_;
};

}  // namespace starlease::service

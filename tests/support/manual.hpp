// The seams driven by hand: a clock that stands still until moved, timers that fire in order of
// time when it is, seeded randomness, and sinks that keep what they are given.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/random.hpp"
#include "lib/base/timers.hpp"
#include "lib/service/audit.hpp"
#include "lib/service/local_state.hpp"

namespace starlease::testing {

class ManualClock final : public base::Clock {
 public:
  [[nodiscard]] base::BootTime boot_now() const override { return boot; }
  [[nodiscard]] base::WallTime wall_now() const override { return wall; }

  base::BootTime boot{base::Milliseconds(1'000'000)};
  base::WallTime wall{base::Milliseconds(1'790'000'000'000)};
};

class ManualTimers final : public base::Timers {
 public:
  explicit ManualTimers(ManualClock& clock) : clock_(clock) {}

  [[nodiscard]] base::Timer at(base::BootTime when, std::move_only_function<void()> fire) override {
    const Key key{when, ++last_};
    armed_.emplace(key, std::move(fire));
    return std::make_unique<Armed>(*this, key);
  }

  /// Moves time on, firing what falls due on the way; `woken` comes before each, as the loop's
  /// turn.
  template <class Woken>
  void advance(base::Nanoseconds by, Woken&& woken) {
    const base::BootTime end = clock_.boot + by;
    while (!armed_.empty() && armed_.begin()->first.when <= end) {
      move_to(armed_.begin()->first.when);
      fire_next(woken);
    }
    move_to(end);
  }

  /// Time passes while the process is stopped: nothing fires until run_due().
  void suspend(base::Nanoseconds by) { move_to(clock_.boot + by); }
  template <class Woken>
  void run_due(Woken&& woken) {
    while (!armed_.empty() && armed_.begin()->first.when <= clock_.boot) fire_next(woken);
  }
  [[nodiscard]] std::size_t armed() const { return armed_.size(); }

 private:
  struct Key {
    base::BootTime when;
    std::uint64_t number;
    auto operator<=>(const Key&) const = default;
  };
  struct Armed final : base::ArmedTimer {
    Armed(ManualTimers& t, const Key& k) : timers(t), key(k) {}
    ~Armed() override { timers.armed_.erase(key); }
    ManualTimers& timers;
    Key key;
  };
  void move_to(base::BootTime when) {
    if (when <= clock_.boot) return;
    // Whole milliseconds of wall time pass with the boot time's.
    clock_.wall +=
        base::floor_ms(when.time_since_epoch()) - base::floor_ms(clock_.boot.time_since_epoch());
    clock_.boot = when;
  }
  template <class Woken>
  void fire_next(Woken&& woken) {
    woken(clock_.boot);
    if (armed_.empty()) return;
    auto node = armed_.extract(armed_.begin());
    node.mapped()();
  }

  ManualClock& clock_;
  std::map<Key, std::move_only_function<void()>> armed_;
  std::uint64_t last_ = 0;
};

class SeededRandom final : public base::Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  void fill(std::span<std::byte> out) override {
    for (std::byte& byte : out) byte = static_cast<std::byte>(engine_() & 0xff);
  }

 private:
  std::mt19937_64 engine_;
};

class KeptLog final : public base::Log {
 public:
  void write(base::LogLevel, std::string_view event,
             std::initializer_list<base::LogField>) override {
    events.emplace_back(event);
  }
  std::vector<std::string> events;
};

class KeptAudit final : public service::AuditSink {
 public:
  void record(const core::AuditEvent& event) override { events.push_back(event); }
  std::vector<core::AuditEvent> events;
};

class KeptState final : public service::LocalState {
 public:
  [[nodiscard]] const base::MacKey& resume_key() const override { return key; }
  [[nodiscard]] std::map<std::uint32_t, service::PartitionMemory> load() const override {
    return memory;
  }
  [[nodiscard]] bool save(const std::map<std::uint32_t, service::PartitionMemory>& m) override {
    memory = m;
    return true;
  }
  base::MacKey key{};
  std::map<std::uint32_t, service::PartitionMemory> memory;
};

}  // namespace starlease::testing

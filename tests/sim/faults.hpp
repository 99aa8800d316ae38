// Injects a plan's faults into a world, each kind at its own random pace, until they are to end.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/sim/daemon_host.hpp"
#include "tests/sim/worker.hpp"

namespace starlease::sim {

enum class Fault : std::uint8_t {
  server_death,
  server_lost_data,
  server_mood,
  server_clock_step,
  wall_step,
  daemon_crash,
  daemon_stop,
  daemon_drain,
  worker_stop,
  worker_death,
};
inline constexpr std::array<std::string_view, 10> fault_names = {
    "server deaths",    "of them with loss of data",
    "server moods",     "server clock steps",
    "wall clock steps", "daemon crashes",
    "daemon stops",     "daemon drains",
    "worker stops",     "worker deaths"};
using FaultCounts = std::array<std::uint64_t, fault_names.size()>;

class Faults {
 public:
  struct Targets {
    Backend& backend;
    std::vector<std::unique_ptr<Host>>& hosts;
    std::vector<std::unique_ptr<DaemonHost>>& daemons;
    std::vector<std::unique_ptr<Worker>>& workers;
  };
  Faults(EventQueue& queue, Chance chance, const Plan& plan, Targets targets);

  void begin();
  /// Undoes what still lasts: everything runs, the server serves, all clocks are right.
  void heal();
  [[nodiscard]] const FaultCounts& counts() const { return counts_; }

 private:
  void every(Nanoseconds mean, std::function<void()> inject);
  void count(Fault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  template <class T>
  T& one_of(std::vector<std::unique_ptr<T>>& list) {
    return *list[static_cast<std::size_t>(chance_.below(list.size()))];
  }
  void server_death();
  void server_mood();
  void server_clock_step();
  void stop(Process* process, Nanoseconds most);

  EventQueue& queue_;
  Chance chance_;
  const Plan& plan_;
  Targets to_;
  FaultCounts counts_{};
  std::uint64_t moods_ = 0;
  bool healed_ = false;
};

}  // namespace starlease::sim

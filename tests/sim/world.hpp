// One world of one seed: daemons with workers, one backend, faults, checkers; from its beginning to
// the end of its faults, to its recovery, to an empty house.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/checkers/exclusive.hpp"
#include "tests/sim/checkers/fencing.hpp"
#include "tests/sim/checkers/losses.hpp"
#include "tests/sim/checkers/replays.hpp"
#include "tests/sim/checkers/tokens.hpp"
#include "tests/sim/checkers/trust.hpp"
#include "tests/sim/faults.hpp"
#include "tests/sim/trace.hpp"

namespace starlease::sim {

/// What happened in a world, summed up over many.
struct Summary {
  std::uint64_t worlds = 0;
  std::uint64_t events = 0;
  std::uint64_t commands = 0;
  std::uint64_t grants = 0;
  std::uint64_t losses = 0;
  Time simulated{};
  FaultCounts faults{};
  /// Of everything that was observed, in order.
  std::uint64_t trace = 0;

  void add(const Summary& other);
};

class World {
 public:
  /// `print`: each observed event as a line on standard output. `canary`: with a fault that the
  /// checkers must find.
  World(std::uint64_t seed, Scenario scenario, bool print, bool canary);
  ~World();

  /// Runs it; the first violation, if there was one.
  std::optional<Violation> run();
  [[nodiscard]] Summary summary() const;

 private:
  struct WorkerDoor;

  DaemonSettings settings() const;
  void populate();
  void run_until(Time end);
  /// Until `done`, at most `longest`; false if it was not to be.
  template <class Done>
  bool await(Nanoseconds longest, Done done);
  void finish_workers();
  void probe();
  void ask_for_leaks();
  void check_bounds();

  Chance chance_;
  Plan plan_;
  EventQueue queue_;
  Verdict verdict_;
  const core::LeasePolicy policy_;
  ExclusiveChecker exclusive_;
  TokensChecker tokens_;
  FencingChecker fencing_;
  TrustChecker trust_;
  LossesChecker losses_;
  ReplaysChecker replays_;
  Trace trace_;
  std::vector<Observer*> observers_;
  Backend backend_;
  std::uint64_t last_number_ = 0;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<DaemonHost>> daemons_;
  std::vector<std::unique_ptr<WorkerDoor>> doors_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> probes_;
  Habits probe_habits_;
  std::unique_ptr<Faults> faults_;
};

}  // namespace starlease::sim

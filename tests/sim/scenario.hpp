// What may go wrong in a world, and how its workers behave: ranges by scenario, values by seed.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "tests/sim/link.hpp"
#include "tests/sim/pipe.hpp"

namespace starlease::sim {

enum class Scenario : std::uint8_t { calm, network, server, clocks, processes, everything };

inline constexpr std::array<std::string_view, 6> scenario_names = {
    "calm", "network", "server", "clocks", "processes", "everything"};

[[nodiscard]] std::optional<Scenario> scenario_named(std::string_view name);

/// Mean time between two faults of a kind; zero: never.
struct Rates {
  Nanoseconds server_death{};
  Nanoseconds server_mood{};
  Nanoseconds server_clock_step{};
  Nanoseconds wall_step{};
  Nanoseconds daemon_crash{};
  Nanoseconds daemon_stop{};
  Nanoseconds daemon_drain{};
  Nanoseconds worker_stop{};
  Nanoseconds worker_death{};
};

/// Probabilities of what a worker does next, and of how it asks.
struct Habits {
  int identities = 4;
  int leases_at_once = 2;
  Milliseconds shortest_ttl{300};
  Milliseconds longest_ttl{2000};
  Nanoseconds thinks = 150ms;
  double waits = 0.5;
  double keeps = 0.3;
  double renews_by_hand = 0.15;
  double heartbeat = 0.1;
  double short_lifetime = 0.1;
  double closes = 0.02;
  double says_goodbye = 0.02;
  double floods = 0.02;
  double writes = 0.25;
  double writes_late = 0.05;
  double deaf = 0;  // to a loss
  double resumes = 0.7;
  double repeats = 0.7;  // an unknown attempt, under the same request id
};

struct Plan {
  Scenario scenario{};
  int daemons = 2;
  int workers_per_daemon = 3;
  std::uint32_t partitions = 1;
  std::int64_t most_drift_ppm = 200;
  Nanoseconds timers_late = 2ms;
  LinkFaults link;
  PipeFaults pipe;
  Rates rates;
  Habits habits;
  /// Of every server death: that data are lost.
  double death_loses_tail = 0;
  double death_loses_all = 0;
  bool writes_survive = true;
  bool trust_durable = false;
  /// Faults happen up to then; afterwards the world must become well.
  Time faults_end = 15s;
};

[[nodiscard]] Plan draw_plan(Scenario scenario, Chance& chance);

}  // namespace starlease::sim

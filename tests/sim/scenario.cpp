// Drawing a plan; see the header.
#include "tests/sim/scenario.hpp"

namespace starlease::sim {
namespace {

/// Half of the seeds leave a fault out, the others have it to a degree.
Nanoseconds rate(Chance& chance, Nanoseconds often, Nanoseconds seldom) {
  return chance.happens(0.5) ? chance.span(often, seldom) : Nanoseconds(0);
}
double share(Chance& chance, double most) {
  return chance.happens(0.5) ? chance.unit() * most : 0.0;
}

void add_network(Plan& plan, Chance& chance) {
  plan.link.usual_latency = chance.span(50us, 5ms);
  plan.link.longest_latency = chance.span(5ms, 400ms);
  plan.link.break_before = share(chance, 0.02);
  plan.link.break_after = share(chance, 0.05);
  plan.link.swallow = share(chance, 0.02);
  plan.link.crawl = share(chance, 0.03);
  plan.link.lose_notice = share(chance, 0.5);
  plan.link.repeat_notice = share(chance, 0.5);
  plan.pipe.split = chance.unit();
  plan.pipe.longest_delay = chance.span(1ms, 50ms);
}

void add_server(Plan& plan, Chance& chance) {
  plan.rates.server_death = rate(chance, 3s, 10s);
  plan.rates.server_mood = rate(chance, 2s, 8s);
  plan.death_loses_tail = share(chance, 0.6);
  plan.death_loses_all = share(chance, 0.3);
  plan.writes_survive = plan.death_loses_tail == 0 && plan.death_loses_all == 0;
}

void add_clocks(Plan& plan, Chance& chance) {
  plan.rates.server_clock_step = rate(chance, 3s, 10s);
  // Where data are lost as well, the daemons' clocks are what tokens rest on: they must be right.
  if (plan.writes_survive) plan.rates.wall_step = rate(chance, 3s, 10s);
  plan.most_drift_ppm = chance.between(0, 900);
}

void add_processes(Plan& plan, Chance& chance) {
  plan.rates.daemon_crash = rate(chance, 3s, 12s);
  plan.rates.daemon_stop = rate(chance, 2s, 8s);
  plan.rates.daemon_drain = rate(chance, 5s, 15s);
  plan.rates.worker_stop = rate(chance, 500ms, 4s);
  plan.rates.worker_death = rate(chance, 1s, 6s);
  plan.timers_late = chance.span(1ms, 30ms);
  plan.habits.deaf = share(chance, 0.5);
}

}  // namespace

std::optional<Scenario> scenario_named(std::string_view name) {
  const auto* const found = std::ranges::find(scenario_names, name);
  if (found == scenario_names.end()) return std::nullopt;
  return static_cast<Scenario>(found - scenario_names.begin());
}

Plan draw_plan(Scenario scenario, Chance& chance) {
  Plan plan;
  plan.scenario = scenario;
  plan.daemons = static_cast<int>(chance.between(1, 3));
  plan.workers_per_daemon = static_cast<int>(chance.between(1, 4));
  plan.partitions = chance.happens(0.3) ? 3 : 1;
  plan.habits.identities = static_cast<int>(chance.between(1, 6));
  plan.habits.thinks = chance.span(20ms, 400ms);
  if (scenario == Scenario::calm) {
    plan.habits.heartbeat = plan.habits.short_lifetime = plan.habits.renews_by_hand = 0;
    plan.habits.keeps = 0;  // one that stays away for longer than its TTL has cause to lose it
    plan.habits.shortest_ttl = Milliseconds(500);
    return plan;
  }
  const bool all = scenario == Scenario::everything;
  if (all || scenario == Scenario::network) add_network(plan, chance);
  if (all || scenario == Scenario::server) add_server(plan, chance);
  if (all || scenario == Scenario::clocks) add_clocks(plan, chance);
  if (all || scenario == Scenario::processes) add_processes(plan, chance);
  plan.trust_durable = chance.happens(0.25);
  return plan;
}

}  // namespace starlease::sim

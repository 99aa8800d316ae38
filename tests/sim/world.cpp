// The life of a world; see the header.
#include "tests/sim/world.hpp"

#include "proto-ipc/request_encoder.hpp"

namespace starlease::sim {
namespace {

/// After the faults, a wait must end in a lease within this: the longest grace and lifetime, and
/// the time that a clock which had been ahead needs to be caught up with.
constexpr Nanoseconds becomes_well = 40s;
constexpr Nanoseconds leaves = 20s;
/// Sessions that have a loss to tell are kept for the maximum lifetime, and looked for every 10 s.
constexpr Nanoseconds forgets = 25s;
constexpr Milliseconds probe_wait{10'000};
constexpr std::uint64_t first_probe = 1000;
/// Timers that a daemon without sessions may still have: housekeeping, silence, the renewals' own.
constexpr std::size_t idle_timers = 12;

core::LeasePolicy short_policy() {
  core::LeasePolicy policy;
  policy.minimum_ttl = Milliseconds(200);
  policy.maximum_ttl = Milliseconds(2000);
  policy.default_ttl = Milliseconds(1000);
  policy.maximum_lifetime = Milliseconds(10'000);
  policy.maximum_wait = Milliseconds(15'000);
  policy.maximum_timeout = Milliseconds(20'000);
  policy.retry_window = Milliseconds(60'000);
  return policy;
}

}  // namespace

void Summary::add(const Summary& other) {
  worlds += other.worlds;
  events += other.events;
  commands += other.commands;
  grants += other.grants;
  losses += other.losses;
  simulated += other.simulated;
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
  trace ^= other.trace;
}

/// The socket of one daemon.
struct World::WorkerDoor final : Door {
  explicit WorkerDoor(DaemonHost& d) : daemon(d) {}
  std::optional<Lanes> connect(Worker& worker) override {
    if (!daemon.accepts()) return std::nullopt;
    return daemon.connect(worker.id(), [&worker](const auto& id) { return worker.asked(id); });
  }
  DaemonHost& daemon;
};

World::World(std::uint64_t seed, Scenario scenario, bool print, bool canary)
    : chance_(seed * 2'654'435'761 + static_cast<std::uint64_t>(scenario)),
      plan_(draw_plan(scenario, chance_)),
      policy_(short_policy()),
      exclusive_(verdict_, plan_.partitions),
      tokens_(verdict_),
      fencing_(verdict_),
      trust_(verdict_),
      losses_(verdict_, policy_, scenario == Scenario::calm),
      replays_(verdict_),
      trace_(print),
      observers_{&trace_, &exclusive_, &tokens_, &fencing_, &trust_, &losses_, &replays_},
      backend_(queue_, plan_.partitions,
               chance_.between(-plan_.most_drift_ppm, plan_.most_drift_ppm), Milliseconds(0),
               observers_) {
  plan_.link.lies = canary;
  populate();
}

World::~World() = default;

DaemonSettings World::settings() const {
  DaemonSettings settings;
  settings.service.policy = policy_;
  settings.service.recovery.init_namespace = true;
  settings.service.recovery.writes_survive = plan_.writes_survive;
  if (plan_.trust_durable) {
    settings.service.recovery.on_restart = service::OnRestart::trust_durable;
  }
  service::PrincipalRow row;
  row.uid = 1000;
  row.principal.id = core::PrincipalId("developer");
  row.principal.client = core::ClientId("client");
  row.principal.credential = core::CredentialId("credential");
  for (std::size_t i = 0; i < core::capability_names.size(); ++i) {
    row.principal.capabilities.push_back(static_cast<core::Capability>(i));
  }
  row.principal.scope.fill({"*"});
  settings.principals.push_back(std::move(row));
  return settings;
}

void World::populate() {
  for (int i = 0; i < plan_.daemons; ++i) {
    hosts_.push_back(
        std::make_unique<Host>(queue_, chance_.between(-plan_.most_drift_ppm, plan_.most_drift_ppm),
                               chance_.span(1h, 1000h), Milliseconds(chance_.between(-20, 20))));
    daemons_.push_back(std::make_unique<DaemonHost>(
        queue_, *hosts_.back(), backend_, chance_.fork(), plan_, settings(), observers_,
        last_number_, [this](std::string what) {
          verdict_.violated(Kind::safety, "protocol", std::move(what));
        }));
    doors_.push_back(std::make_unique<WorkerDoor>(*daemons_.back()));
    for (int n = 0; n < plan_.workers_per_daemon; ++n) {
      workers_.push_back(std::make_unique<Worker>(workers_.size() + 1, queue_, *hosts_.back(),
                                                  *doors_.back(), chance_.fork(), plan_.habits,
                                                  observers_));
    }
  }
  faults_ = std::make_unique<Faults>(queue_, chance_.fork(), plan_,
                                     Faults::Targets{backend_, hosts_, daemons_, workers_});
}

std::optional<Violation> World::run() {
  for (const auto& daemon : daemons_) daemon->start();
  for (const auto& worker : workers_) worker->start();
  faults_->begin();
  run_until(plan_.faults_end);
  if (verdict_.good()) {
    faults_->heal();
    plan_.link = {plan_.link.usual_latency, plan_.link.longest_latency};
    finish_workers();
  }
  if (verdict_.good()) probe();
  if (verdict_.good()) ask_for_leaks();
  return verdict_.first();
}

void World::run_until(Time end) {
  queue_.run_until(end, [this] {
    check_bounds();
    return verdict_.good();
  });
}

template <class Done>
bool World::await(Nanoseconds longest, Done done) {
  const Time end = queue_.now() + longest;
  while (verdict_.good() && !done()) {
    if (queue_.now() >= end) return false;
    run_until(std::min(end, queue_.now() + 10ms));
  }
  return true;
}

void World::finish_workers() {
  for (const auto& worker : workers_) worker->finish();
  const auto all_gone = [this] {
    return std::ranges::all_of(workers_, [](const auto& w) { return w->gone(); });
  };
  if (!await(leaves, all_gone)) {
    verdict_.violated(Kind::liveness, "leaving", "a worker cannot give back what it holds");
  }
  for (const auto& worker : workers_) {
    if (!worker->complaint().empty()) {
      verdict_.violated(Kind::safety, "protocol", worker->complaint());
    }
  }
}

/// One new worker per daemon wants every identity in turn, all at the same time.
void World::probe() {
  probe_habits_ = plan_.habits;
  probe_habits_.deaf = probe_habits_.floods = probe_habits_.closes = 0;
  std::vector<std::string> targets;
  for (int i = 1; i <= plan_.habits.identities; ++i) targets.push_back("t" + std::to_string(i));
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    probes_.push_back(std::make_unique<Worker>(first_probe + i, queue_, *hosts_[i], *doors_[i],
                                               chance_.fork(), probe_habits_, observers_));
    probes_.back()->probe(targets, probe_wait);
  }
  const auto all_served = [this] {
    return std::ranges::all_of(probes_, [](const auto& w) { return w->probed_all(); });
  };
  if (!await(becomes_well, all_served)) {
    verdict_.violated(Kind::liveness, "waiting", "a worker that waits never gets its lease");
  }
  for (const auto& worker : probes_) worker->finish();
  const auto all_gone = [this] {
    return std::ranges::all_of(probes_, [](const auto& w) { return w->gone(); });
  };
  if (!await(leaves, all_gone)) {
    verdict_.violated(Kind::liveness, "leaving", "a probe cannot give back what it holds");
  }
}

/// With everybody gone the daemons must have nothing left: asked of each, as an operator asks.
void World::ask_for_leaks() {
  run_until(queue_.now() + forgets);
  for (const auto& daemon : daemons_) {
    if (!await(leaves, [&] { return daemon->accepts(); })) {
      return verdict_.violated(Kind::liveness, "leaks", "a daemon does not come back");
    }
    std::map<std::int64_t, core::Call> asked;
    const Lanes lanes = daemon->connect(0, [](const auto&) { return nullptr; }, true);
    const auto asker = std::make_shared<Process>(queue_, *hosts_[0], chance_.fork(), 1ms);
    ipc::FrameDecoder frames(262'144);
    std::optional<core::StatsAnswer> stats;
    lanes.to_worker->receiver = asker;
    lanes.to_worker->on_bytes = [&](const std::string& bytes) {
      frames.feed(std::as_bytes(std::span(bytes)));
      for (auto payload = frames.next(); payload && *payload; payload = frames.next()) {
        const auto message = ipc::decode_message(**payload);
        const auto* reply = message ? std::get_if<ipc::Reply>(&*message) : nullptr;
        if (reply == nullptr || !reply->outcome) continue;
        if (const auto* found = std::get_if<core::StatsAnswer>(&*reply->outcome)) stats = *found;
      }
    };
    core::HelloCall hello;
    hello.protocol = core::protocol_version;
    hello.client = "sim/1";
    for (const core::Call& call : {core::Call(hello), core::Call(core::StatsCall{})}) {
      const auto id = static_cast<std::int64_t>(call.index()) + 1;
      lanes.to_daemon->send(lanes.to_daemon, ipc::encode_frame(ipc::encode_request(id, call)));
    }
    if (!await(5s, [&] { return stats.has_value(); })) {
      return verdict_.violated(Kind::liveness, "leaks", "a daemon does not answer");
    }
    if (!stats) return;  // something else went wrong meanwhile
    for (const auto& [name, value] : stats->values) {
      const bool total = name.ends_with("_total");
      const std::int64_t allowed = name == "sessions"                 ? 1
                                   : name == "store_commands_pending" ? plan_.partitions + 1
                                                                      : 0;
      if (total || value <= allowed) continue;
      verdict_.violated(Kind::safety, "leaks", name + " is " + std::to_string(value));
    }
    if (daemon->process()->armed() > idle_timers) {
      verdict_.violated(Kind::safety, "leaks",
                        std::to_string(daemon->process()->armed()) + " timers are armed");
    }
    lanes.to_daemon->end(lanes.to_daemon);
    run_until(queue_.now() + 1s);
  }
}

void World::check_bounds() {
  for (const auto& daemon : daemons_) {
    if (daemon->store_pending() > 4096) {
      verdict_.violated(Kind::safety, "bounds", "too many commands are pending");
    }
  }
}

Summary World::summary() const {
  Summary summary;
  summary.worlds = 1;
  summary.events = queue_.happened();
  summary.commands = backend_.commands();
  for (const auto& worker : workers_) {
    summary.grants += worker->grants();
    summary.losses += worker->losses();
  }
  summary.simulated = queue_.now();
  summary.faults = faults_->counts();
  summary.trace = trace_.digest();
  return summary;
}

}  // namespace starlease::sim

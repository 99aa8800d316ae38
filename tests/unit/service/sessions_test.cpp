// Sessions and waiting: who is let in, what a dead worker leaves, who is next in line.
#include "tests/unit/service/world.hpp"

namespace starlease::testing {

TEST_CASE("hello refuses strangers, other versions and foreign resume tokens") {
  World world;
  Worker worker;
  core::HelloCall call;
  call.protocol = 1;
  auto stranger = world.service->hello({7, 7, 1}, call, false, worker);
  REQUIRE(!stranger);
  CHECK(stranger.error().code == core::FailureCode::invalid_credential);
  call.protocol = 2;
  auto version = world.service->hello({1000, 1000, 1}, call, false, worker);
  REQUIRE(!version);
  CHECK(version.error().field == "protocol");
  call.protocol = 1;
  call.instance = core::ServiceInstanceId("instance_x");
  call.resume = "forged";
  auto forged = world.service->hello({1000, 1000, 1}, call, false, worker);
  REQUIRE(!forged);
  CHECK(forged.error().field == "resume");
}

TEST_CASE("a worker that leaves frees its leases at once and the waiter gets the next token") {
  World world;
  Worker& one = world.worker();
  Worker& two = world.worker();
  const auto first = world.acquire(one);
  auto call = world.acquire_call();
  call.wait = 10s;
  call.deadline.timeout = 20s;
  const Answered waiting = world.ask(two, call);
  world.advance(500ms);
  CHECK(!waiting->has_value());
  world.service->disconnected(one.session, one, service::Departure::left);
  world.advance(5ms);
  REQUIRE(waiting->has_value());
  REQUIRE(**waiting);
  CHECK(std::get<core::GrantAnswer>(***waiting).grant.token > first.grant.token);
}

TEST_CASE("waiters of one daemon are served in order, with one attempt a release") {
  World world;
  Worker& holder = world.worker();
  auto lease = world.acquire(holder);
  std::vector<Worker*> line;
  std::vector<Answered> answers;
  for (int i = 0; i < 5; ++i) {
    Worker& worker = world.worker();
    auto call = world.acquire_call();
    call.wait = 30s;
    call.deadline.timeout = 40s;
    answers.push_back(world.ask(worker, call));
    line.push_back(&worker);
    world.advance(1ms);
  }
  Worker* current = &holder;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto calls = world.store.calls();
    REQUIRE(world.now(*current, world.release_call(lease)));
    world.advance(2ms);
    CHECK(world.store.calls() - calls <= 4);
    REQUIRE(answers[i]->has_value());
    REQUIRE(**answers[i]);
    for (std::size_t later = i + 1; later < line.size(); ++later)
      CHECK(!answers[later]->has_value());
    lease = std::get<core::GrantAnswer>(***answers[i]);
    current = line[i];
  }
}

TEST_CASE("a wait ends as a conflict at its time, and a replay of it says the same") {
  World world;
  Worker& one = world.worker();
  Worker& two = world.worker();
  world.acquire(one);
  auto call = world.acquire_call();
  call.wait = 1s;
  const Answered waiting = world.ask(two, call);
  world.advance(990ms);
  CHECK(!waiting->has_value());
  world.advance(20ms);
  REQUIRE(waiting->has_value());
  CHECK(code_of(**waiting) == core::FailureCode::lease_conflict);
  auto again = world.now(two, call);
  CHECK(code_of(again) == core::FailureCode::lease_conflict);
  CHECK(again.error().replayed);
}

TEST_CASE("a waiter whose worker went away is dropped") {
  World world;
  Worker& one = world.worker();
  Worker& two = world.worker();
  Worker& three = world.worker();
  const auto lease = world.acquire(one);
  auto call = world.acquire_call();
  call.wait = 10s;
  call.deadline.timeout = 20s;
  const Answered dropped = world.ask(two, call);
  auto third = world.acquire_call();
  third.wait = 10s;
  third.deadline.timeout = 20s;
  const Answered waiting = world.ask(three, third);
  world.advance(10ms);
  world.service->disconnected(two.session, two, service::Departure::left);
  REQUIRE(world.now(one, world.release_call(lease)));
  world.advance(5ms);
  REQUIRE(waiting->has_value());
  CHECK(**waiting);
}

TEST_CASE("a holder that dies with its host is followed at the known expiry") {
  World world;
  Worker& waiter = world.worker();
  // A lease held through another daemon that is gone.
  Worker& other = world.worker();
  auto foreign = world.acquire_call();
  foreign.renew = core::RenewMode::manual;
  foreign.on_disconnect = core::OnDisconnect::keep;
  REQUIRE(world.now(other, foreign));
  world.service->disconnected(other.session, other, service::Departure::left);
  auto call = world.acquire_call();
  call.wait = 10s;
  call.deadline.timeout = 20s;
  const Answered waiting = world.ask(waiter, call);
  world.advance(2100ms);
  REQUIRE(waiting->has_value());
  CHECK(**waiting);
}

TEST_CASE("a kept lease is claimed by resume and renewed again") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  const auto lease = std::get<core::GrantAnswer>(*outcome);
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(1s);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  CHECK(back.hello.owner.instance == worker.hello.owner.instance);
  world.advance(10s);
  CHECK(back.all<core::LeaseLost>().empty());
  CHECK(world.now(back, world.release_call(lease)));
}

TEST_CASE("a loss while away is told right after the resuming hello, once") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  REQUIRE(world.now(worker, call));
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(5s);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  CHECK(back.all<core::LeaseLost>().size() == 1);
  CHECK(worker.all<core::LeaseLost>().empty());
}

TEST_CASE("what was told lost stays lost, also for the worker that comes back for it") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  call.heartbeat = 500ms;
  auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  const auto lease = std::get<core::GrantAnswer>(*outcome);
  world.advance(600ms);
  REQUIRE(worker.all<core::LeaseLost>().size() == 1);
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(10ms);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  CHECK(world.store.held(digest_of(identity())));
  CHECK(code_of(world.now(back, world.renew_call(lease))) == core::FailureCode::lease_lost);
}

TEST_CASE("after the daemon restarted, resume and renew take the lease over") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.advance(1s);
  world.restart_daemon();
  world.advance(5ms);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  auto renewed = world.now(back, world.renew_call(lease));
  REQUIRE(renewed);
  CHECK(std::get<core::GrantAnswer>(*renewed).grant.token == lease.grant.token);
  world.advance(20s);
  CHECK(back.all<core::LeaseLost>().empty());
}

TEST_CASE("a kept lease that a restarted daemon took over is still kept") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  world.restart_daemon();
  world.advance(5ms);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  REQUIRE(world.now(back, world.renew_call(std::get<core::GrantAnswer>(*outcome))));
  world.service->disconnected(back.session, back, service::Departure::left);
  world.advance(100ms);
  CHECK(world.store.held(digest_of(identity())));
}

TEST_CASE("a repeated renewal of a lease that has ended tells the whole lease, and its end") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  const auto renew = world.renew_call(lease);
  REQUIRE(world.now(worker, renew));
  REQUIRE(world.now(worker, world.release_call(lease)));
  auto again = world.now(worker, renew);
  REQUIRE(again);
  const auto& past = std::get<core::GrantAnswer>(*again);
  CHECK(past.identity == lease.identity);
  CHECK(past.grant.lease_id == lease.grant.lease_id);
  REQUIRE(past.replay);
  CHECK(past.replay->current_state == core::LeaseState::released);
  CHECK(past.valid_for <= 0ms);
  // Once a successor has taken the record's place, all that is left to say is that it is over.
  world.acquire(worker);
  auto later = world.now(worker, renew);
  CHECK(code_of(later) == core::FailureCode::lease_lost);
  CHECK(later.error().replayed);
}

TEST_CASE("a second connection of the same instance takes it over") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  Worker& second = world.workers.emplace_back();
  world.greet(second, worker.hello);
  CHECK(worker.taken_over);
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(5s);
  CHECK(second.all<core::LeaseLost>().empty());
  CHECK(world.now(second, world.release_call(lease)));
}

TEST_CASE("drain tells workers, releases their leases and ends") {
  World world;
  Worker& worker = world.worker();
  world.acquire(worker);
  bool drained = false;
  world.service->drain([&] { drained = true; });
  CHECK(worker.all<core::Draining>().size() == 1);
  CHECK(code_of(world.now(worker, world.acquire_call("another"))) ==
        core::FailureCode::lease_backend_unavailable);
  world.advance(600ms);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::shutdown);
  CHECK(lost[0].valid_for <= 0ms);
  CHECK(worker.bidden_farewell);
  CHECK(!drained);
  CHECK(world.store.held(digest_of(identity())));
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(1ms);
  CHECK(drained);
  CHECK(!world.store.held(digest_of(identity())));
}

TEST_CASE("a drain does not give away what a stalled worker or one that is away may rely on") {
  World world;
  Worker& stalled = world.worker();
  Worker& away = world.worker();
  world.acquire(stalled);
  auto kept = world.acquire_call("target-2");
  kept.on_disconnect = core::OnDisconnect::keep;
  REQUIRE(world.now(away, kept));
  world.service->disconnected(away.session, away, service::Departure::left);
  bool drained = false;
  world.service->drain([&] { drained = true; });
  world.advance(1900ms);
  CHECK(!drained);
  CHECK(world.store.held(digest_of(identity())));
  CHECK(world.store.held(digest_of(identity("target-2"))));
  world.advance(2s);
  CHECK(drained);
}

TEST_CASE("a worker that the daemon cut off finds its lease again, and is renewed") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.service->disconnected(worker.session, worker, service::Departure::cut_off);
  world.advance(1s);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  world.advance(10s);
  CHECK(back.all<core::LeaseLost>().empty());
  CHECK(world.now(back, world.release_call(lease)));
}

TEST_CASE("bounds are refused with lease_rate_limited and a time to retry") {
  auto settings = short_settings();
  settings.admission.max_leases_per_session = 1;
  settings.admission.max_waiters_per_lock = 1;
  World world(settings);
  Worker& one = world.worker();
  Worker& two = world.worker();
  world.acquire(one);
  auto more = world.now(one, world.acquire_call("second"));
  CHECK(code_of(more) == core::FailureCode::lease_rate_limited);
  CHECK(more.error().retry_after.has_value());
  auto call = world.acquire_call();
  call.wait = 3s;
  (void)world.ask(two, call);
  auto full = world.acquire_call();
  full.wait = 3s;
  CHECK(code_of(world.now(two, full)) == core::FailureCode::lease_rate_limited);
  world.advance(4s);
}

}  // namespace starlease::testing

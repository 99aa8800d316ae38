// A service over a MemoryStore with every seam in the test's hand, and workers that keep what they
// are told.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <memory>

#include "lib/service/service.hpp"
#include "lib/store/memory_store.hpp"
#include "tests/support/manual.hpp"

namespace starlease::testing {

using namespace std::chrono_literals;

inline service::Settings short_settings() {
  service::Settings settings;
  settings.policy.minimum_ttl = 1s;
  settings.policy.default_ttl = 2s;
  settings.policy.maximum_ttl = 10s;
  settings.policy.maximum_lifetime = 60s;
  settings.recovery.init_namespace = true;
  settings.recovery.writes_survive = true;
  return settings;
}

/// Uid 1000 may do everything; uid 1001 may acquire, and nothing else.
inline std::vector<service::PrincipalRow> two_principals() {
  core::Principal principal;
  principal.id = core::PrincipalId("prn_test");
  principal.client = core::ClientId("client_test");
  principal.credential = core::CredentialId("uid:1000");
  principal.capabilities = {core::Capability::targets_read, core::Capability::targets_lease,
                            core::Capability::targets_commit, core::Capability::namespace_admin,
                            core::Capability::audit_read};
  principal.scope.fill({"*"});
  core::Principal poor = principal;
  poor.id = core::PrincipalId("prn_poor");
  poor.capabilities = {core::Capability::targets_lease};
  return {{1000, std::nullopt, principal}, {1001, std::nullopt, poor}};
}

inline core::RawIdentity identity(const char* target = "target-1") {
  core::RawIdentity raw;
  raw.components = {"tenant", "program", "ns", target, "actor", std::nullopt, std::nullopt};
  return raw;
}

inline core::LockDigest digest_of(const core::RawIdentity& raw) {
  return core::lock_digest(*core::normalize(raw, {}));
}

/// What a worker's connection sees, in order.
struct Worker final : service::EventSink {
  void deliver(const core::Event& event) override { events.push_back(event); }
  void superseded() override { taken_over = true; }
  void farewell() override { bidden_farewell = true; }
  void watch_peer() override { watched = true; }

  template <class E>
  [[nodiscard]] std::vector<E> all() const {
    std::vector<E> found;
    for (const core::Event& event : events) {
      if (const E* one = std::get_if<E>(&event)) found.push_back(*one);
    }
    return found;
  }

  service::SessionId session{};
  core::HelloAnswer hello;
  std::vector<core::Event> events;
  bool taken_over = false;
  bool bidden_farewell = false;
  bool watched = false;
};

/// A request's answer, once it has come.
using Answered = std::shared_ptr<std::optional<core::Outcome<core::Answer>>>;

struct World {
  explicit World(service::Settings s = short_settings(), std::uint32_t partitions = 1)
      : settings(std::move(s)),
        principals(two_principals()),
        store(partitions, clock, timers,
              [this] {
                return core::backend_time(clock.wall.time_since_epoch().count()) + backend_step;
              }),
        seams{clock, timers, random, store, log, audit, state} {
    restart_daemon();
    advance(10ms);
  }

  void restart_daemon() {
    service.reset();
    service = std::make_unique<service::LeaseService>(settings, seams, principals);
    service->start();
  }

  void advance(base::Nanoseconds by) {
    timers.advance(by, [this](base::BootTime now) { service->turn(now); });
    service->turn(clock.boot);
  }
  /// SIGSTOP, then SIGCONT: the daemon's first act is its turn.
  void stall(base::Nanoseconds by) {
    timers.suspend(by);
    service->turn(clock.boot);
  }

  Worker& worker(std::uint32_t uid = 1000) {
    Worker& w = workers.emplace_back();
    greet(w, {}, uid);
    return w;
  }
  void greet(Worker& w, const core::HelloAnswer& earlier, std::uint32_t uid = 1000) {
    core::HelloCall call;
    call.protocol = 1;
    call.client = "test/1";
    call.instance = earlier.owner.instance;
    call.resume = earlier.resume;
    call.notify_backend = true;
    auto greeting = service->hello({uid, 1000, 1}, call, false, w);
    REQUIRE(greeting);
    w.session = greeting->session;
    w.hello = greeting->answer;
    service->greeted(w.session);
  }

  Answered ask(Worker& w, core::Call call) {
    auto answered = std::make_shared<std::optional<core::Outcome<core::Answer>>>();
    service->submit(w.session, std::move(call), [answered](service::Reply reply) {
      REQUIRE(!answered->has_value());
      answered->emplace(std::move(reply.outcome));
    });
    return answered;
  }
  core::Outcome<core::Answer> now(Worker& w, core::Call call) {
    Answered answered = ask(w, std::move(call));
    advance(1ms);
    REQUIRE(answered->has_value());
    return **answered;
  }

  core::AcquireCall acquire_call(const char* target = "target-1") {
    core::AcquireCall call;
    call.identity = identity(target);
    call.request_id = core::RequestId("req-" + std::to_string(++last_request));
    return call;
  }
  core::GrantAnswer acquire(Worker& w, const char* target = "target-1") {
    auto outcome = now(w, acquire_call(target));
    REQUIRE(outcome);
    return std::get<core::GrantAnswer>(*outcome);
  }
  core::ReleaseCall release_call(const core::GrantAnswer& lease) {
    return {lease.grant.lease_id,
            lease.grant.token,
            core::RequestId("req-" + std::to_string(++last_request)),
            {}};
  }
  core::RenewCall renew_call(const core::GrantAnswer& lease) {
    return {lease.grant.lease_id,
            lease.grant.token,
            core::RequestId("req-" + std::to_string(++last_request)),
            {},
            {}};
  }

  service::Settings settings;
  service::PrincipalTable principals;
  ManualClock clock;
  ManualTimers timers{clock};
  SeededRandom random{7};
  KeptLog log;
  KeptAudit audit;
  KeptState state;
  base::Milliseconds backend_step{0};
  store::MemoryStore store;
  service::Seams seams;
  std::deque<Worker> workers;
  std::unique_ptr<service::LeaseService> service;
  int last_request = 0;
};

inline core::FailureCode code_of(const core::Outcome<core::Answer>& outcome) {
  REQUIRE(!outcome);
  return outcome.error().code;
}

}  // namespace starlease::testing

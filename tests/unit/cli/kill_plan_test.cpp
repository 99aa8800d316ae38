// When the executor must stop its command, worked backwards from the end of validity.
#include "lib/cli/kill_plan.hpp"

#include <doctest/doctest.h>

using namespace starlease;
using namespace starlease::cli;
using namespace std::chrono_literals;

namespace {
const BootTime end{client::Nanoseconds(100'000'000'000)};
}

TEST_CASE("killing begins a lead before validity ends, a tenth of a short TTL") {
  CHECK(plan_kill(end, 30000ms, {}).kill_at == end - 100ms);
  CHECK(plan_kill(end, 500ms, {}).kill_at == end - 50ms);
  CHECK(plan_kill(end, 100ms, {}).kill_at == end - 20ms);
}

TEST_CASE("TERM never comes after KILL") {
  for (const auto ttl : {100ms, 500ms, 2000ms, 30000ms}) {
    for (const std::optional<Milliseconds> wish :
         {std::optional<Milliseconds>{}, {0ms}, {10ms}, {60000ms}}) {
      const KillPlan plan = plan_kill(end, ttl, wish);
      CHECK(plan.term_at <= plan.kill_at);
      CHECK(plan.kill_at < end);
    }
  }
}

TEST_CASE("a wish takes at most half the TTL, so that a renewal in time never ends the command") {
  CHECK(plan_kill(end, 3000ms, 60000ms).term_at == end - 100ms - 1500ms);
  CHECK(plan_kill(end, 3000ms, 400ms).term_at == end - 100ms - 400ms);
}

TEST_CASE("only a loss that leaves the lock to nobody else leaves time for TERM") {
  for (const auto reason :
       {LossReason::revoked, LossReason::force_released, LossReason::released,
        LossReason::renewal_rejected, LossReason::shutdown, LossReason::connection_lost}) {
    CHECK(may_be_granted_now(reason));
  }
  for (const auto reason :
       {LossReason::expired, LossReason::backend_unavailable, LossReason::maximum_lifetime,
        LossReason::heartbeat_missed, LossReason::recovered}) {
    CHECK_FALSE(may_be_granted_now(reason));
  }
}

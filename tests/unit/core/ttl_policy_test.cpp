// Terms at their bounds, and validity that always errs towards less.
#include "lib/core/ttl_policy.hpp"

#include <doctest/doctest.h>

namespace starlease::core {
namespace {

TEST_CASE("both bounds of the ttl are inclusive, and the refusal says which are allowed") {
  const LeasePolicy policy;
  CHECK(effective_terms(policy, policy.minimum_ttl, {})->ttl == policy.minimum_ttl);
  CHECK(effective_terms(policy, policy.maximum_ttl, {})->ttl == policy.maximum_ttl);
  CHECK(effective_terms(policy, {}, {})->ttl == policy.default_ttl);
  for (const Milliseconds bad :
       {policy.minimum_ttl - Milliseconds(1), policy.maximum_ttl + Milliseconds(1), Milliseconds(0),
        Milliseconds(-1), Milliseconds::min(), Milliseconds::max()}) {
    const auto refused = effective_terms(policy, bad, {});
    REQUIRE(!refused);
    CHECK(refused.error().field == "ttl_ms");
    CHECK(refused.error().message == "Choose a ttl_ms from 1000 to 60000");
  }
}

TEST_CASE("a lifetime is cut to the policy's, and the ttl to the lifetime") {
  const LeasePolicy policy;
  const auto cut = effective_terms(policy, Milliseconds(2000), Milliseconds::max());
  CHECK(cut->maximum_lifetime == policy.maximum_lifetime);
  const auto shorter = effective_terms(policy, Milliseconds(5000), Milliseconds(3000));
  CHECK(shorter->ttl == Milliseconds(3000));
  CHECK(shorter->maximum_lifetime == Milliseconds(3000));
  const auto refused = effective_terms(policy, {}, Milliseconds(999));
  REQUIRE(!refused);
  CHECK(refused.error().field == "maximum_lifetime_ms");
}

TEST_CASE("validity is shorter than the ttl by drift and rounding, counted from the sending") {
  LeasePolicy policy;
  CHECK(drift_allowance(policy, Milliseconds(10'000)) == Milliseconds(22));
  CHECK(drift_allowance(policy, Milliseconds(0)) == Milliseconds(2));
  const BootTime sent{Milliseconds(5000)};
  CHECK(valid_until(policy, sent, Milliseconds(10'000)) == sent + Milliseconds(9978));
  CHECK(valid_until(policy, sent, Milliseconds(0)) < sent);
  policy.drift_ppm = 0;
  CHECK(valid_until(policy, sent, Milliseconds(10'000)) == sent + Milliseconds(9998));
}

TEST_CASE("the margin is the policy's, but at most a fifth of a short ttl") {
  const LeasePolicy policy;
  CHECK(margin(policy, Milliseconds(30'000)) == policy.safety_margin);
  CHECK(margin(policy, Milliseconds(1250)) == Milliseconds(250));
  CHECK(margin(policy, Milliseconds(1000)) == Milliseconds(200));
}

TEST_CASE("replays outlive both the longest lease and the retry window") {
  LeasePolicy policy;
  policy.maximum_lifetime = Milliseconds(1000);
  policy.retry_window = Milliseconds(2000);
  CHECK(replay_retention(policy) == Milliseconds(2000));
  policy.maximum_lifetime = Milliseconds(3000);
  CHECK(replay_retention(policy) == Milliseconds(3000));
}

}  // namespace
}  // namespace starlease::core

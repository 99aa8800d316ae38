// Policy arithmetic; see the header.
#include "lib/core/ttl_policy.hpp"

#include <algorithm>

namespace starlease::core {
namespace {

constexpr Milliseconds rounding{2};

}  // namespace

Outcome<LeaseTerms> effective_terms(const LeasePolicy& policy, std::optional<Milliseconds> ttl,
                                    std::optional<Milliseconds> maximum_lifetime) {
  const Milliseconds wanted = ttl.value_or(policy.default_ttl);
  if (wanted < policy.minimum_ttl || wanted > policy.maximum_ttl) {
    return invalid("ttl_ms", "Choose a ttl_ms from " + std::to_string(policy.minimum_ttl.count()) +
                                 " to " + std::to_string(policy.maximum_ttl.count()));
  }
  const Milliseconds lifetime = maximum_lifetime.value_or(policy.maximum_lifetime);
  if (lifetime < policy.minimum_ttl) {
    return invalid("maximum_lifetime_ms", "Choose a maximum_lifetime_ms of at least " +
                                              std::to_string(policy.minimum_ttl.count()));
  }
  LeaseTerms terms{wanted, std::min(lifetime, policy.maximum_lifetime)};
  terms.ttl = std::min(terms.ttl, terms.maximum_lifetime);
  return terms;
}

Milliseconds drift_allowance(const LeasePolicy& policy, Milliseconds ttl) {
  return Milliseconds(ttl.count() * policy.drift_ppm / 1'000'000) + rounding;
}

BootTime valid_until(const LeasePolicy& policy, BootTime sent_at, Milliseconds remaining) {
  return sent_at + remaining - drift_allowance(policy, remaining);
}

Milliseconds margin(const LeasePolicy& policy, Milliseconds ttl) {
  return std::min(policy.safety_margin, ttl / 5);
}

Milliseconds replay_retention(const LeasePolicy& policy) {
  return std::max(policy.maximum_lifetime, policy.retry_window);
}

}  // namespace starlease::core

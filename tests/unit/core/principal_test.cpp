// Default deny: what is not granted in words is not granted.
#include "lib/core/principal.hpp"

#include <doctest/doctest.h>

#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

Principal everywhere() {
  Principal principal;
  principal.scope.fill({"*"});
  return principal;
}

TEST_CASE("a new principal may do nothing anywhere") {
  const Principal nobody;
  CHECK(!in_scope(nobody, sample::identity()));
  for (std::size_t i = 0; i < capability_names.size(); ++i) {
    CHECK(!has_capability(nobody, static_cast<Capability>(i)));
  }
}

TEST_CASE("one capability is one capability") {
  Principal principal;
  principal.capabilities = {Capability::targets_lease};
  for (std::size_t i = 0; i < capability_names.size(); ++i) {
    const auto capability = static_cast<Capability>(i);
    CHECK(has_capability(principal, capability) == (capability == Capability::targets_lease));
  }
}

TEST_CASE("every component must be granted; an empty list of one denies all") {
  CHECK(in_scope(everywhere(), sample::identity()));
  for (std::size_t i = 0; i < component_count; ++i) {
    Principal principal = everywhere();
    principal.scope[i].clear();
    CHECK(!in_scope(principal, sample::identity()));
    principal.scope[i] = {"other", sample::identity().components[i]};
    CHECK(in_scope(principal, sample::identity()));
  }
}

TEST_CASE("exact values and prefixes: nothing between them") {
  const auto allows = [](const char* pattern, const char* target) {
    Principal principal = everywhere();
    principal.scope[3] = {pattern};
    LockIdentity identity = sample::identity();
    identity.components[3] = target;
    return in_scope(principal, identity);
  };
  CHECK(allows("abc", "abc"));
  CHECK(!allows("abc", "abcd"));
  CHECK(!allows("abc", "ab"));
  CHECK(allows("abc*", "abc"));
  CHECK(allows("abc*", "abcd"));
  CHECK(!allows("abc*", "ab"));
  CHECK(!allows("abc*", "xabc"));
  CHECK(!allows("*abc", "xabc"));
  CHECK(!allows("a*c", "abc"));
  CHECK(!allows("", "abc"));
}

}  // namespace
}  // namespace starlease::core

// The closed set of failure codes: names, retryability, sentences that say what to do.
#include "lib/core/outcome.hpp"

#include <doctest/doctest.h>

#include <set>

#include "lib/core/canonical.hpp"

namespace starlease::core {
namespace {

constexpr FailureCode last = FailureCode::lease_not_found;

TEST_CASE("each code has its own name and sentence, and exactly five may be retried") {
  std::set<std::string_view> names;
  std::set<std::string> sentences;
  std::set<std::string_view> retried;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto code = static_cast<FailureCode>(i);
    names.insert(name(code));
    sentences.insert(failure(code).message);
    if (retryable(code)) retried.insert(name(code));
    CHECK(failure(code).code == code);
    CHECK(!failure(code).retry_after);
  }
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK(sentences.size() == names.size());
  CHECK(retried == std::set<std::string_view>{"lease_conflict", "deadline_exceeded",
                                              "lease_rate_limited", "lease_backend_unavailable",
                                              "lease_outcome_unknown"});
  CHECK(failure(FailureCode::lease_conflict, Milliseconds(5)).retry_after == Milliseconds(5));
}

TEST_CASE("bad input names its field") {
  const Outcome<int> refused = invalid("ttl_ms", "Choose a ttl_ms");
  REQUIRE(!refused);
  CHECK(refused.error().code == FailureCode::invalid_lease_request);
  CHECK(refused.error().field == "ttl_ms");
  CHECK(refused.error().message == "Choose a ttl_ms");
}

TEST_CASE("canonical bytes: compact, in the order given, escaped only where JSON demands it") {
  const std::array<std::string, 3> items = {"a\"b\\c", "\x01\x1f\n", "\xc3\xa9/\x7f"};
  CHECK(canonical_array(items) == "[\"a\\\"b\\\\c\",\"\\u0001\\u001f\\u000a\",\"\xc3\xa9/\x7f\"]");
  CHECK(canonical_array({}) == "[]");
  CanonicalObject object;
  object.add("z", "1").add("a", std::int64_t{-5});
  CHECK(std::move(object).finish() == R"({"z":"1","a":-5})");
  CHECK(CanonicalObject().finish() == "{}");
}

}  // namespace
}  // namespace starlease::core

// Durations and identities as they are typed and shown.
#include "lib/cli/texts.hpp"

#include <doctest/doctest.h>

using namespace starlease;
using namespace starlease::cli;
using namespace std::chrono_literals;

TEST_CASE("durations have a unit or are milliseconds") {
  CHECK(parse_duration("1500") == 1500ms);
  CHECK(parse_duration("1500ms") == 1500ms);
  CHECK(parse_duration("30s") == 30s);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("2h") == 2h);
  CHECK(parse_duration("0") == 0ms);
}

TEST_CASE("what is no duration is refused") {
  for (const char* text : {"", "s", "-1s", "+1s", "1.5s", "1 s", "1d", "1S", "10000h", "1ss",
                           "99999999999999999999", "9223372036854775807h"}) {
    CHECK_MESSAGE(!parse_duration(text), text);
  }
}

TEST_CASE("a duration is shown in its longest exact unit") {
  CHECK(format_duration(30s) == "30s");
  CHECK(format_duration(1500ms) == "1500ms");
  CHECK(parse_duration(format_duration(2h)) == 2h);
}

TEST_CASE("an identity goes to its word and back") {
  for (const char* text : {"t/p/n/x/a", "t/p/n/x/a/w", "t/p/n/x/a/w/c"}) {
    const auto identity = parse_identity(text);
    REQUIRE(identity);
    CHECK(parse_identity(format_identity(*identity)) == identity);
  }
  CHECK(format_identity(*parse_identity("t/p/n/x/a")) == "t/p/n/x/a");
  for (const char* text : {"", "t", "t/p/n/x", "t/p/n/x/", "/p/n/x/a", "t/p/n/x/a/w/c/more"}) {
    CHECK_MESSAGE(!parse_identity(text), text);
  }
}

// Unicode leaves: what is valid, what normalizes to what, which characters are what.
#include "lib/base/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

namespace starlease::base {
namespace {

TEST_CASE("well-formed UTF-8 only: no overlong forms, surrogates, cut or stray bytes") {
  for (const std::string_view good :
       {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(utf8_valid(good));
  }
  for (const std::string_view bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                     "\xf4\x90\x80\x80", "\xff", "a\xe2\x82", "\xf0\x9f\x98"}) {
    CAPTURE(bad);
    CHECK(!utf8_valid(bad));
    CHECK(!utf8_normalize(bad, true));
  }
}

TEST_CASE("composed and decomposed text is the same; folding is full and optional") {
  CHECK(utf8_normalize("e\xcc\x81", false) == "\xc3\xa9");
  CHECK(utf8_normalize("\xc3\x89", false) == "\xc3\x89");
  CHECK(utf8_normalize("\xc3\x89", true) == "\xc3\xa9");
  CHECK(utf8_normalize("Stra\xc3\x9f"
                       "e",
                       true) == "strasse");
  CHECK(utf8_normalize("\xce\xa3\xcf\x82", true) == "\xcf\x83\xcf\x83");
}

TEST_CASE("normalizing twice is normalizing once") {
  for (const std::string_view text : {"e\xcc\x81", "\xc4\xb0", "\xef\xac\x80", "\xe1\xba\x9e",
                                      "\xea\xb0\x80", "\xe1\x84\x80\xe1\x85\xa1"}) {
    const auto once = utf8_normalize(text, true);
    REQUIRE(once);
    CHECK(utf8_normalize(*once, true) == once);
  }
}

TEST_CASE("characters are visited in order with their kind, until the visitor has had enough") {
  std::string kinds;
  const auto visit = [&kinds](char32_t, CharacterKind kind) {
    kinds += "ldmo"[static_cast<std::size_t>(kind)];
    return true;
  };
  CHECK(utf8_each("a1_\xc3\xa9\xd9\xa3\xcc\x81 ", visit));
  CHECK(kinds == "ldoldmo");
  int seen = 0;
  CHECK(!utf8_each("abc", [&](char32_t, CharacterKind) { return ++seen < 2; }));
  CHECK(seen == 2);
  std::string_view rest = "\xe2\x82\xacx";
  CHECK(utf8_take(rest) == U'\u20ac');
  CHECK(rest == "x");
}

}  // namespace
}  // namespace starlease::base

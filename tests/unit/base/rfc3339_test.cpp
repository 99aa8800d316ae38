// Instants as text: one form, both ways, every day of the calendar.
#include "lib/base/rfc3339.hpp"

#include <doctest/doctest.h>

namespace starlease::base {
namespace {

constexpr std::int64_t day_ms = 86'400'000;

TEST_CASE("known instants") {
  for (const auto& [ms, text] :
       {std::pair<std::int64_t, std::string_view>{0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {951'782'400'000, "2000-02-29T00:00:00.000Z"},
        {1'785'931'200'000, "2026-08-05T12:00:00.000Z"},
        {253'402'300'799'999, "9999-12-31T23:59:59.999Z"}}) {
    CHECK(rfc3339_format(ms) == text);
    CHECK(rfc3339_parse(text) == ms);
  }
}

TEST_CASE("every day of 400 years is read as it was written, and days follow each other in text") {
  std::string yesterday;
  for (std::int64_t day = 0; day < 146'097; ++day) {
    const std::string text = rfc3339_format(day * day_ms + 86'399'999);
    REQUIRE(rfc3339_parse(text) == day * day_ms + 86'399'999);
    REQUIRE(yesterday < text);
    yesterday = text;
  }
}

TEST_CASE("anything but the one form is refused") {
  for (const std::string_view bad : {"",
                                     "2026-08-05T12:00:00Z",
                                     "2026-08-05T12:00:00.00Z",
                                     "2026-08-05T12:00:00.0000Z",
                                     "2026-08-05t12:00:00.000Z",
                                     "2026-08-05T12:00:00.000z",
                                     "2026-08-05 12:00:00.000Z",
                                     "2026-08-05T12:00:00.000+00:00",
                                     "2026-08-05T12:00:00,000Z",
                                     "2026-02-29T00:00:00.000Z",
                                     "1900-02-29T00:00:00.000Z",
                                     "2026-13-01T00:00:00.000Z",
                                     "2026-00-01T00:00:00.000Z",
                                     "2026-01-00T00:00:00.000Z",
                                     "2026-04-31T00:00:00.000Z",
                                     "2026-01-01T24:00:00.000Z",
                                     "2026-01-01T00:60:00.000Z",
                                     "2016-12-31T23:59:60.000Z",
                                     "+026-01-01T00:00:00.000Z",
                                     "2026-01-01T00:00:00.000Z ",
                                     "1969-12-31T23:59:59.999Z"}) {
    CAPTURE(bad);
    CHECK(!rfc3339_parse(bad));
  }
}

}  // namespace
}  // namespace starlease::base

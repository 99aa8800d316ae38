// RFC 3339 text; see the header.
#include "lib/base/rfc3339.hpp"

#include <array>
#include <chrono>

namespace starlease::base {
namespace {

constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd.dddZ";

void put(std::string& text, std::size_t at, unsigned digits, unsigned value) {
  for (std::size_t i = at + digits; i-- > at; value /= 10) {
    text[i] = static_cast<char>('0' + value % 10);
  }
}

unsigned take(std::string_view text, std::size_t at, unsigned digits) {
  unsigned value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  return value;
}

}  // namespace

std::string rfc3339_format(std::int64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> instant{milliseconds(unix_ms)};
  const auto day = floor<days>(instant);
  const year_month_day date{day};
  const hh_mm_ss time{instant - day};
  std::string text(form);
  put(text, 0, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put(text, 5, 2, static_cast<unsigned>(date.month()));
  put(text, 8, 2, static_cast<unsigned>(date.day()));
  put(text, 11, 2, static_cast<unsigned>(time.hours().count()));
  put(text, 14, 2, static_cast<unsigned>(time.minutes().count()));
  put(text, 17, 2, static_cast<unsigned>(time.seconds().count()));
  put(text, 20, 3, static_cast<unsigned>(time.subseconds().count()));
  return text;
}

std::optional<std::int64_t> rfc3339_parse(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool fits = form[i] == 'd' ? (text[i] >= '0' && text[i] <= '9') : text[i] == form[i];
    if (!fits) return std::nullopt;
  }
  const year_month_day date{year(static_cast<int>(take(text, 0, 4))), month(take(text, 5, 2)),
                            day(take(text, 8, 2))};
  const unsigned hour = take(text, 11, 2);
  const unsigned minute = take(text, 14, 2);
  const unsigned second = take(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const sys_time<milliseconds> instant = sys_days(date) + hours(hour) + minutes(minute) +
                                         seconds(second) + milliseconds(take(text, 20, 3));
  if (instant.time_since_epoch().count() < 0) return std::nullopt;
  return instant.time_since_epoch().count();
}

}  // namespace starlease::base

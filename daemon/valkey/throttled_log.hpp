// Keeps a repeating message from filling the log: the same one is written once per interval, with
// how often it was left out. Bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace starlease::valkey {

class ThrottledLog {
 public:
  ThrottledLog(base::Log& log, const base::Clock& clock) : log_(log), clock_(clock) {}

  /// Writes `event` with `detail` and `what_to_do`, unless the same `detail` was written lately.
  void write(base::LogLevel level, std::string_view event, const std::string& detail,
             std::string_view what_to_do) {
    const base::BootTime now = clock_.boot_now();
    if (seen_.size() >= max_messages && !seen_.contains(detail)) seen_.clear();
    Seen& seen = seen_[detail];
    if (seen.written && now < seen.again_at) {
      ++seen.left_out;
      return;
    }
    log_.write(level, event,
               {{"detail", detail}, {"what_to_do", what_to_do}, {"left_out", seen.left_out}});
    seen = {true, now + interval, 0};
  }

 private:
  static constexpr base::Milliseconds interval{10'000};
  static constexpr std::size_t max_messages = 64;
  struct Seen {
    bool written = false;
    base::BootTime again_at;
    std::int64_t left_out = 0;
  };

  base::Log& log_;
  const base::Clock& clock_;
  std::map<std::string, Seen> seen_;
};

}  // namespace starlease::valkey

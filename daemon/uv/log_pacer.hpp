// Holds one kind of log line to a rate, so that a fault that repeats cannot fill the disk. Counts
// what it held back, for the next line to tell. Does not write itself.
#pragma once

#include <cstdint>
#include <utility>

#include "lib/base/clock.hpp"

namespace starlease::uv {

class LogPacer {
 public:
  explicit LogPacer(base::Nanoseconds interval) : interval_(interval) {}

  /// True if a line may be written now; otherwise it is counted.
  [[nodiscard]] bool admit(base::BootTime now) {
    if (now < next_) {
      ++held_back_;
      return false;
    }
    next_ = now + interval_;
    return true;
  }

  /// How many lines were held back since the last one; starts the count again.
  [[nodiscard]] std::uint64_t take_held_back() { return std::exchange(held_back_, 0); }

 private:
  base::Nanoseconds interval_;
  base::BootTime next_{};
  std::uint64_t held_back_ = 0;
};

}  // namespace starlease::uv

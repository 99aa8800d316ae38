// Numbers ordered by when something is due for them. Each number stands in it at most once; the
// owner keeps the time that it stands under.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lib/client/boot_clock.hpp"

namespace starlease::client {

class DueSet {
 public:
  using Number = std::uint64_t;

  void add(BootTime when, Number number) { entries_.emplace(when, number); }
  void remove(BootTime when, Number number) { entries_.erase({when, number}); }
  [[nodiscard]] std::optional<BootTime> earliest() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->first;
  }
  /// Takes out what is due at `now`, earliest first.
  [[nodiscard]] std::vector<Number> take(BootTime now) {
    std::vector<Number> due;
    while (!entries_.empty() && entries_.begin()->first <= now) {
      due.push_back(entries_.begin()->second);
      entries_.erase(entries_.begin());
    }
    return due;
  }

 private:
  std::set<std::pair<BootTime, Number>> entries_;
};

}  // namespace starlease::client

// The only source of progress in a simulated world: what happens next, in order of true time and,
// at the same instant, of asking. Nothing else moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/clock.hpp"

namespace starlease::sim {

using namespace std::chrono_literals;
using base::Milliseconds;
using base::Nanoseconds;

/// True time since the world began. No process can read it.
using Time = Nanoseconds;

class EventQueue {
 public:
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] std::uint64_t happened() const { return happened_; }

  /// A time that has passed means now, behind what is due now already.
  void at(Time when, std::move_only_function<void()> act) {
    heap_.push_back({std::max(when, now_), ++last_, std::move(act)});
    std::ranges::push_heap(heap_, later);
  }
  void after(Nanoseconds delay, std::move_only_function<void()> act) {
    at(now_ + delay, std::move(act));
  }

  /// Lets everything happen up to and including `end`, as long as `watch`, called after each event,
  /// says so.
  template <class Watch>
  void run_until(Time end, Watch&& watch) {
    while (!heap_.empty() && heap_.front().when <= end) {
      std::ranges::pop_heap(heap_, later);
      Item item = std::move(heap_.back());
      heap_.pop_back();
      now_ = item.when;
      ++happened_;
      item.act();
      if (!watch()) return;
    }
    now_ = end;
  }

 private:
  struct Item {
    Time when;
    std::uint64_t number;
    std::move_only_function<void()> act;
  };
  static bool later(const Item& a, const Item& b) {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }

  Time now_{};
  std::uint64_t last_ = 0;
  std::uint64_t happened_ = 0;
  std::vector<Item> heap_;
};

}  // namespace starlease::sim

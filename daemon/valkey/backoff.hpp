// How long to wait before the next attempt to connect: doubling, bounded, jittered. No timer here.
#pragma once

#include <algorithm>

#include "lib/base/clock.hpp"
#include "lib/base/random.hpp"

namespace starlease::valkey {

class Backoff {
 public:
  /// REQUIRES: 0 < least <= most.
  Backoff(base::Milliseconds least, base::Milliseconds most, base::Random& random)
      : least_(least), most_(most), random_(random) {}

  /// The next wait: between half of the current step and all of it, so that daemons which lost
  /// their server together do not come back together.
  [[nodiscard]] base::Milliseconds next() {
    const base::Milliseconds step = std::min(most_, least_ * (std::int64_t{1} << steps_));
    if (step < most_) ++steps_;
    const auto half = step / 2;
    const auto spread = static_cast<std::uint64_t>((step - half).count()) + 1;
    return half + base::Milliseconds(static_cast<std::int64_t>(random_.below(spread)));
  }
  /// The connection proved good: begin anew.
  void reset() { steps_ = 0; }

 private:
  base::Milliseconds least_;
  base::Milliseconds most_;
  base::Random& random_;
  /// Doublings so far; stops growing at the longest wait, so the shift stays small.
  unsigned steps_ = 0;
};

}  // namespace starlease::valkey

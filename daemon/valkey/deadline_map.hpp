// Translates our deadlines into the backend's time, by the last answer of each partition. Never
// later than the true one: a function must not begin what its caller no longer waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/core/times.hpp"

namespace starlease::valkey {

class DeadlineMap {
 public:
  explicit DeadlineMap(std::uint32_t partitions) : seen_(partitions) {}

  /// An answer of `partition` said `backend`, and was read at `boot`. The instant it spoke of lies
  /// before that, so counting from `boot` can only make deadlines earlier.
  void observe(std::uint32_t partition, core::BackendTime backend, core::BootTime boot) {
    seen_[partition] = {core::unix_ms(backend), boot};
  }
  /// Another server may answer from now on.
  void forget() { seen_.assign(seen_.size(), {}); }

  /// The deadline in backend milliseconds; 0 where the backend's time is not known.
  [[nodiscard]] std::int64_t backend_ms(std::uint32_t partition, core::BootTime deadline) const {
    const Sample& sample = seen_[partition];
    if (sample.backend_ms == 0) return 0;
    const std::int64_t ahead = base::floor_ms(deadline - sample.boot).count();
    // Clocks may drift apart by this share of the time since the sample, and one for rounding.
    const std::int64_t drift = (ahead > 0 ? ahead : -ahead) / drift_share + 1;
    const std::int64_t translated = sample.backend_ms + ahead - drift;
    // Zero would mean "no deadline".
    return translated > 0 ? translated : 1;
  }

 private:
  /// One part in this many: 2000 ppm.
  static constexpr std::int64_t drift_share = 500;
  struct Sample {
    std::int64_t backend_ms = 0;
    core::BootTime boot;
  };
  std::vector<Sample> seen_;
};

}  // namespace starlease::valkey

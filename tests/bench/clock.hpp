// What every probe needs: a clock, percentiles, one line of JSON. Only for tests/bench.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace starlease::bench {

inline std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// CPU time of this process so far.
inline std::int64_t cpu_ns() { return now_ns(CLOCK_PROCESS_CPUTIME_ID); }

/// Prints count, p50, p90 and p99 of what took so many nanoseconds, in microseconds.
inline void print_latency(std::vector<std::int64_t> took_ns) {
  std::sort(took_ns.begin(), took_ns.end());
  const auto at = [&](std::size_t percent) {
    return static_cast<double>(took_ns[(took_ns.size() - 1) * percent / 100]) / 1000.0;
  };
  std::printf("{\"count\":%zu,\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_us\":%.1f}\n", took_ns.size(),
              at(50), at(90), at(99));
}

}  // namespace starlease::bench

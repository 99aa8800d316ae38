// Everything in a world that is left to chance, drawn from its seed in one fixed order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lib/base/random.hpp"
#include "tests/sim/event_queue.hpp"

namespace starlease::sim {

/// SplitMix64: small, and the same on every machine, unlike the distributions of <random>.
class Chance final : public base::Random {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  void fill(std::span<std::byte> out) override {
    for (std::byte& byte : out) byte = static_cast<std::byte>(next() >> 56);
  }
  /// A source of its own for a part of the world, so that its draws do not shift the others'.
  [[nodiscard]] Chance fork() { return Chance(next()); }

  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool happens(double probability) { return unit() < probability; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  Nanoseconds span(Nanoseconds least, Nanoseconds most) {
    return Nanoseconds(between(least.count(), most.count()));
  }
  /// Mostly near `usual`, now and then many times as long: a long tail, cut at `most`.
  Nanoseconds tail(Nanoseconds usual, Nanoseconds most) {
    const double factor = 0.5 + 0.5 / std::max(1e-9, std::sqrt(1.0 - unit()));
    const double drawn =
        std::min(static_cast<double>(usual.count()) * factor, static_cast<double>(most.count()));
    return Nanoseconds(static_cast<std::int64_t>(drawn));
  }

 private:
  std::uint64_t state_;
};

}  // namespace starlease::sim

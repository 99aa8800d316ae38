// The real source of randomness: libsodium's, seeded by the kernel.
#pragma once

#include <array>

#include "lib/base/random.hpp"

namespace starlease::base {

class SystemRandom final : public Random {
 public:
  /// REQUIRES: base::crypto_start() has returned true.
  void fill(std::span<std::byte> out) override;

 private:
  /// From a small store, as every held lease asks for jitter at every renewal. A fork copies the
  /// store, which does not matter for jitter; ids never come from it.
  std::uint64_t draw() override;

  std::array<std::uint64_t, 64> store_{};
  std::size_t left_ = 0;
};

}  // namespace starlease::base

// The real source of randomness: libsodium's, seeded by the kernel.
#pragma once

#include "lib/base/random.hpp"

namespace starlease::base {

class SystemRandom final : public Random {
 public:
  /// REQUIRES: base::crypto_start() has returned true.
  void fill(std::span<std::byte> out) override;
};

}  // namespace starlease::base

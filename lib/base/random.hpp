// The seam for randomness: ids, jitter. The real one is system_random (libsodium); tests seed
// theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace starlease::base {

class Random {
 public:
  virtual ~Random() = default;
  /// Fills `out` with unpredictable bytes. Never fails.
  virtual void fill(std::span<std::byte> out) = 0;

  /// A number in [0, bound). REQUIRES: bound > 0. The modulo bias is below 2^-32 for bounds below
  /// 2^32, which is enough for jitter; ids use fill().
  std::uint64_t below(std::uint64_t bound) { return draw() % bound; }

 protected:
  /// A number for below().
  virtual std::uint64_t draw() {
    std::uint64_t value = 0;
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
};

}  // namespace starlease::base

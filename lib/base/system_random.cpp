// Randomness from libsodium; see the header.
#include "lib/base/system_random.hpp"

#include <sodium.h>

namespace starlease::base {

void SystemRandom::fill(std::span<std::byte> out) { randombytes_buf(out.data(), out.size()); }

std::uint64_t SystemRandom::draw() {
  if (left_ == 0) {
    fill(std::as_writable_bytes(std::span(store_)));
    left_ = store_.size();
  }
  return store_[--left_];
}

}  // namespace starlease::base

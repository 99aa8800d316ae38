// Randomness from libsodium; see the header.
#include "lib/base/system_random.hpp"

#include <sodium.h>

namespace starlease::base {

void SystemRandom::fill(std::span<std::byte> out) { randombytes_buf(out.data(), out.size()); }

}  // namespace starlease::base

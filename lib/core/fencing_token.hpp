// Fencing tokens: 1 .. 2^53-1, strictly greater with every new acquisition of an identity.
// Contract "fencing token"; design.md 4 for the floor.
#pragma once

#include <compare>
#include <cstdint>

#include "lib/core/limits.hpp"

namespace starlease::core {

struct FencingToken {
  std::int64_t value = 0;

  [[nodiscard]] bool valid() const { return value >= 1 && value <= limits::maximum_token; }
  friend auto operator<=>(const FencingToken&, const FencingToken&) = default;
};

/// An epoch's number is the token floor that began it, so an epoch never repeats.
struct Epoch {
  std::int64_t value = 0;
  friend auto operator<=>(const Epoch&, const Epoch&) = default;
};

}  // namespace starlease::core

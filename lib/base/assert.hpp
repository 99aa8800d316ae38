// Assertions that are always on, for our own mistakes only: a broken assertion means that going on
// could grant a lease twice, so the process stops. Domain outcomes and bad input never come here.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace starlease::base {

[[noreturn]] inline void assertion_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "starlease: assertion failed: %s at %s:%d\n", what, file, line);
  std::abort();
}

}  // namespace starlease::base

/// Programmer error if false: prints the condition and aborts, in every build type.
#define SL_ASSERT(condition)    \
  (static_cast<bool>(condition) \
       ? static_cast<void>(0)   \
       : ::starlease::base::assertion_failed(#condition, __FILE__, __LINE__))

/// Marks a path that a closed switch has already covered.
#define SL_UNREACHABLE() ::starlease::base::assertion_failed("unreachable", __FILE__, __LINE__)

// Reads a whole regular file with a bound. For configuration and secrets at start; never used while
// serving.
#pragma once

#include <cstddef>
#include <string>

#include "lib/base/result.hpp"

namespace starlease::config {

enum class Privacy : bool {
  any,
  /// Refuses a file that others can read, or that anybody but its owner can write.
  secret,
};

/// The file's bytes, or a sentence that says what is wrong with it. Never waits: a FIFO or device
/// is refused.
[[nodiscard]] base::Result<std::string, std::string> read_file(const std::string& path,
                                                               std::size_t max_bytes,
                                                               Privacy privacy = Privacy::any);

}  // namespace starlease::config

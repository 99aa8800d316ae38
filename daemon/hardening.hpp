// What the process gives up before it handles a secret or a peer.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/result.hpp"

namespace starlease {

/// No core dumps and no tracing by others, no new privileges, private files by default, no death by
/// SIGPIPE, and as many open files as the hard limit allows. Must come before secrets are read. The
/// error is a sentence: what must not fail failed.
[[nodiscard]] base::Result<void, std::string> harden();

/// Open files that this process may have.
[[nodiscard]] std::uint64_t open_file_limit();

}  // namespace starlease

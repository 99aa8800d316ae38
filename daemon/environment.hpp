// Every seam of the daemon in one struct. main() fills it with the real things, the simulator with
// its own; daemon/daemon.cpp sees only these interfaces and links neither libuv nor hiredis.
#pragma once

#include "lib/base/stream.hpp"
#include "lib/service/seams.hpp"

namespace starlease {

struct Environment {
  service::Seams seams;
  /// Where workers connect, and where operators do.
  base::Listener& workers;
  base::Listener& admins;
};

}  // namespace starlease

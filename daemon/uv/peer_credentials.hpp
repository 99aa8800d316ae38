// Who is at the other end of a Unix socket, by the kernel's word alone: credentials of the process
// that connected, and a descriptor for that process. Decides nothing about what it may do.
#pragma once

#include <cstdint>

#include "daemon/uv/error.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "lib/base/stream.hpp"

namespace starlease::uv {

/// SO_PEERCRED: user, group and process at the time of connect() (of socketpair()). They stay as
/// they were even if the socket is passed on. Errors: system.
[[nodiscard]] Result<base::PeerIdentity> peer_identity(int socket);

enum class PeerProcess : std::uint8_t {
  alive,       ///< The descriptor is readable once the process has ended.
  gone,        ///< It has ended and been reaped; there is no descriptor.
  unknowable,  ///< Another PID namespace, no descriptor left, or a kernel without pidfds.
};

struct PeerHandle {
  PeerProcess process = PeerProcess::unknowable;
  OwnedFd pidfd;
  int errno_value = 0;  ///< Why it is unknowable.
};

/// A pidfd of the process that connected: SO_PEERPIDFD (exact), or on kernels before 6.5 the one
/// that has its number now, which after a reuse is another process: then only the socket's end is
/// seen.
[[nodiscard]] PeerHandle open_peer(int socket, const base::PeerIdentity& peer);

}  // namespace starlease::uv

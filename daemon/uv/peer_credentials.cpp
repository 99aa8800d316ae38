// SO_PEERCRED, SO_PEERPIDFD and pidfd_open.
#include "daemon/uv/peer_credentials.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace starlease::uv {

Result<base::PeerIdentity> peer_identity(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return base::failed(system_error("cannot read the peer's credentials", errno));
  }
  return base::PeerIdentity{.uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
}

PeerHandle open_peer(int socket, const base::PeerIdentity& peer) {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0) {
    return {PeerProcess::alive, OwnedFd(fd), 0};
  }
  // A reaped process: EINVAL on the first kernels that have the option, ESRCH later.
  if (errno == EINVAL || errno == ESRCH) return {PeerProcess::gone, {}, 0};
  if (errno != ENOPROTOOPT) return {PeerProcess::unknowable, {}, errno};
  if (peer.pid <= 0) return {PeerProcess::unknowable, {}, ESRCH};

  fd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(peer.pid), 0U));
  if (fd >= 0) return {PeerProcess::alive, OwnedFd(fd), 0};
  if (errno == ESRCH) return {PeerProcess::gone, {}, 0};
  return {PeerProcess::unknowable, {}, errno};
}

}  // namespace starlease::uv

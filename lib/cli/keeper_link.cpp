// A pair of sequenced packets sockets; see the header.
#include "lib/cli/keeper_link.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace starlease::cli {

std::optional<std::pair<KeeperLink, KeeperLink>> KeeperLink::make() {
  int ends[2];
  const int kind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
  if (::socketpair(AF_UNIX, kind, 0, ends) != 0) return std::nullopt;
  return std::pair(KeeperLink(client::UniqueFd(ends[0])), KeeperLink(client::UniqueFd(ends[1])));
}

void KeeperLink::say(KeeperWord word, int value) const {
  const KeeperMessage message{word, value};
  (void)::send(fd_.get(), &message, sizeof(message), MSG_NOSIGNAL);
}

KeeperLink::Heard KeeperLink::hear(KeeperMessage& message) const {
  const ssize_t size = ::recv(fd_.get(), &message, sizeof(message), 0);
  if (size == static_cast<ssize_t>(sizeof(message))) return Heard::message;
  const bool try_later = size < 0 && (errno == EAGAIN || errno == EINTR);
  return try_later ? Heard::nothing : Heard::end;
}

}  // namespace starlease::cli

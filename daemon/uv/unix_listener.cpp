// Accepting on a Unix socket; see the header.
#include "daemon/uv/unix_listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "daemon/uv/unix_stream.hpp"

namespace starlease::uv {
namespace {

/// One turn takes no more, so that a crowd at the door does not keep workers waiting.
constexpr int accepted_per_turn = 64;
/// Without descriptors, the door is looked at again this often: no spin, and soon enough.
constexpr base::Milliseconds rest_for{100};
constexpr base::Milliseconds path_checked_every{1000};
constexpr base::Milliseconds logged_every{5000};

OwnedFd open_reserve() { return OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool is_listening(int fd) {
  int domain = 0;
  int type = 0;
  int accepts = 0;
  socklen_t size = sizeof domain;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
                     ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
                     ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0;
  return known && domain == AF_UNIX && type == SOCK_STREAM && accepts != 0;
}

}  // namespace

Result<std::unique_ptr<UnixListener>> UnixListener::bind(Connections& connections,
                                                         SocketSpec spec) {
  auto bound = BoundSocket::bind(std::move(spec));
  if (!bound) return base::failed(bound.error());
  return std::unique_ptr<UnixListener>(new UnixListener(connections, std::move(*bound), OwnedFd()));
}

Result<std::unique_ptr<UnixListener>> UnixListener::adopt(Connections& connections,
                                                          OwnedFd socket) {
  if (!is_listening(socket.get())) {
    return base::failed(Error{ErrorKind::not_listening, 0,
                              "the descriptor passed in is not a listening Unix stream socket"});
  }
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<UnixListener>(
      new UnixListener(connections, std::nullopt, std::move(socket)));
}

UnixListener::UnixListener(Connections& connections, std::optional<BoundSocket> bound,
                           OwnedFd passed)
    : connections_(connections),
      bound_(std::move(bound)),
      passed_(std::move(passed)),
      reserve_(open_reserve()),
      pacer_(logged_every) {}

UnixListener::~UnixListener() { stop(); }

void UnixListener::start(Accept accept) {
  accept_ = std::move(accept);
  watch();
  if (bound_) check_path();
}

void UnixListener::stop() {
  poll_.close();
  resting_.reset();
  path_check_.reset();
  if (bound_) bound_->remove_path();
}

void UnixListener::watch() {
  const auto opened = poll_.open(
      connections_.loop(), fd(),
      [](void* self, int status, int) { static_cast<UnixListener*>(self)->on_ready(status); },
      this);
  if (!opened) return exhausted(opened.error().errno_value);
  poll_.want(UV_READABLE);
}

void UnixListener::on_ready(int status) {
  if (status != 0) return rest();
  for (int i = 0; i < accepted_per_turn && !resting_; ++i) {
    if (!accept_one(fd())) return;
  }
}

/// False when nobody waits any more, or none can be taken now.
bool UnixListener::accept_one(int listening) {
  OwnedFd socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    const int code = errno;
    if (code == EAGAIN || code == EWOULDBLOCK) return false;
    if (code == EINTR || code == ECONNABORTED) return true;
    exhausted(code);
    return false;
  }
  if (connections_.full()) {
    if (pacer_.admit(connections_.loop().clock().boot_now())) {
      connections_.log().warning("connection refused: too many",
                                 {{"connections", connections_.open()}});
    }
    return true;
  }
  auto stream = UnixStream::adopt(connections_, std::move(socket));
  if (!stream) {
    exhausted(stream.error().errno_value);
    return false;
  }
  accept_(std::move(*stream));
  return static_cast<bool>(poll_);
}

/// No descriptor is left, or the kernel refuses: turn one peer away so that it knows, then rest.
void UnixListener::exhausted(int errno_value) {
  if (errno_value == EMFILE || errno_value == ENFILE) {
    reserve_.reset();
    OwnedFd turned_away(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
    turned_away.reset();
    reserve_ = open_reserve();
  }
  if (pacer_.admit(connections_.loop().clock().boot_now())) {
    connections_.log().error("cannot accept connections",
                             {{"error", system_error("accept", errno_value).message},
                              {"held_back", pacer_.take_held_back()}});
  }
  rest();
}

void UnixListener::rest() {
  if (poll_) poll_.want(0);
  const base::BootTime now = connections_.loop().clock().boot_now();
  resting_ = connections_.timers().at(now + rest_for, [this] {
    resting_.reset();
    if (poll_) {
      poll_.want(UV_READABLE);
    } else {
      watch();
    }
  });
}

/// Connections that wait in the old socket are accepted before it is closed.
void UnixListener::heal_path() {
  auto old = bound_->heal();
  if (!old) {
    if (pacer_.admit(connections_.loop().clock().boot_now())) {
      connections_.log().error("socket path is gone", {{"error", old.error().message}});
    }
    return;
  }
  connections_.log().warning("socket path was gone; bound again", {{"path", bound_->path()}});
  poll_.close();
  watch();
  while (accept_one(old->get())) {
  }
}

/// A cleaner of temporary files, or a person, may have removed the path: bind it again. What
/// somebody put there instead is his; then it can only be said that nobody reaches us.
void UnixListener::check_path() {
  // Armed first: what is accepted below may stop this listener.
  const base::BootTime now = connections_.loop().clock().boot_now();
  path_check_ = connections_.timers().at(now + path_checked_every, [this] { check_path(); });
  switch (bound_->presence()) {
    case BoundSocket::Presence::ours:
      break;
    case BoundSocket::Presence::missing:
      heal_path();
      break;
    case BoundSocket::Presence::replaced:
      if (pacer_.admit(now)) {
        connections_.log().error("socket path was taken over; nobody can connect here",
                                 {{"path", bound_->path()}});
      }
      break;
  }
}

}  // namespace starlease::uv

// Lines without waiting; see the header.
#include "daemon/log/line_fd.hpp"

#include <cerrno>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace starlease::log {

bool LineFd::writable() const {
  struct pollfd poll{};
  poll.fd = descriptor_;
  poll.events = POLLOUT;
  return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLOUT) != 0;
}

bool LineFd::write(std::string_view line) {
  line = line.substr(0, max_line_bytes);
  ssize_t written = -1;
  if (writable()) {
    do {
      written = ::write(descriptor_, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
  }
  if (written == static_cast<ssize_t>(line.size())) return true;
  ++dropped_;
  return false;
}

std::uint64_t LineFd::take_dropped() { return std::exchange(dropped_, 0); }

}  // namespace starlease::log

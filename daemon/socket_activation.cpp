// sd_listen_fds; see the header.
#include "daemon/socket_activation.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

namespace starlease {
namespace {

/// Frees sd_listen_fds_with_names' array of strings.
struct FreeNames {
  void operator()(char** names) const {
    for (char** name = names; name != nullptr && *name != nullptr; ++name) std::free(*name);
    std::free(static_cast<void*>(names));
  }
};

}  // namespace

base::Result<PassedSockets, std::string> take_passed_sockets() {
  char** raw_names = nullptr;
  // Sets close-on-exec on each, and removes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES.
  const int count = ::sd_listen_fds_with_names(1, &raw_names);
  const std::unique_ptr<char*, FreeNames> names(raw_names);
  if (count < 0) {
    return base::failed(
        fmt::format("sockets passed by the service manager: {}", std::strerror(-count)));
  }
  PassedSockets passed;
  for (int i = 0; i < count; ++i) {
    uv::OwnedFd socket(SD_LISTEN_FDS_START + i);
    const std::string name = raw_names[i];
    auto* slot = name == worker_socket_name  ? &passed.workers
                 : name == admin_socket_name ? &passed.admins
                                             : nullptr;
    if (slot == nullptr) {
      passed.unknown.push_back(name);
      continue;
    }
    if (*slot || ::sd_is_socket_unix(socket.get(), SOCK_STREAM, 1, nullptr, 0) <= 0) {
      return base::failed(fmt::format(
          "the service manager passed \"{}\", which is not one listening Unix stream socket",
          name));
    }
    *slot = std::move(socket);
  }
  return passed;
}

}  // namespace starlease

// Process-wide settings; see the header.
#include "daemon/hardening.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace starlease {
namespace {

/// A sanitizer's leak check traces its own process, which an undumpable one forbids.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool may_be_undumpable = false;
#else
constexpr bool may_be_undumpable = true;
#endif

auto refused(const char* what) {
  return base::failed(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

base::Result<void, std::string> harden() {
  const struct rlimit no_core{};
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) return refused("cannot forbid core dumps");
  if (may_be_undumpable && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return refused("cannot forbid tracing");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return refused("cannot give up new privileges");
  ::umask(0077);
  std::signal(SIGPIPE, SIG_IGN);
  struct rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0)
      return refused("cannot raise the limit of open files");
  }
  return {};
}

std::uint64_t open_file_limit() {
  struct rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : 0;
}

}  // namespace starlease

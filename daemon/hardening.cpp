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

/// A second lock on the same door as PR_SET_DUMPABLE. A unit's LimitCORE= and a system call filter
/// that forbids changing limits go together, so a refusal is no failure.
void forbid_core_files() {
  struct rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0) return;
  core.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &core);
}

/// As many descriptors as may be had. Fewer are no failure: accepting copes with what there is.
void raise_open_files() {
  struct rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

base::Result<void, std::string> harden() {
  if (may_be_undumpable && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return refused("cannot forbid core dumps and tracing");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return refused("cannot give up new privileges");
  forbid_core_files();
  raise_open_files();
  ::umask(0077);
  std::signal(SIGPIPE, SIG_IGN);
  return {};
}

std::uint64_t open_file_limit() {
  struct rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : 0;
}

}  // namespace starlease

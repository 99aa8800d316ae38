// Foreground process groups; see the header.
#include "lib/cli/terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace starlease::cli {

Terminal::Terminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

bool Terminal::is_ours() const { return is_of(::getpgrp()); }

bool Terminal::is_of(pid_t group) const { return fd_ && ::tcgetpgrp(fd_.get()) == group; }

void Terminal::give_to(pid_t group) const {
  if (fd_) ::tcsetpgrp(fd_.get(), group);
}

bool Terminal::to_be_handed_over() const {
  if (!is_ours() || ::isatty(STDIN_FILENO) == 0) return false;
  struct stat output{};
  return ::fstat(STDOUT_FILENO, &output) != 0 || !S_ISFIFO(output.st_mode);
}

}  // namespace starlease::cli

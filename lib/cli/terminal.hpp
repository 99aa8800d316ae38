// The controlling terminal, as far as the executor needs it: whose process group is in front.
#pragma once

#include <sys/types.h>

#include "lib/client/unique_fd.hpp"

namespace starlease::cli {

class Terminal {
 public:
  /// The controlling terminal; absent where there is none.
  Terminal();

  [[nodiscard]] bool present() const { return static_cast<bool>(fd_); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// True if this process's group is in front.
  [[nodiscard]] bool is_ours() const;
  /// True if `group` is in front.
  [[nodiscard]] bool is_of(pid_t group) const;
  /// Puts `group` in front. REQUIRES: SIGTTOU is blocked.
  void give_to(pid_t group) const;
  /// True if the command should be in front from the start: we are, it reads the terminal, and no
  /// pipeline that shares it would be pushed aside.
  [[nodiscard]] bool to_be_handed_over() const;

 private:
  client::UniqueFd fd_;
};

}  // namespace starlease::cli

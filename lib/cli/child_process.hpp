// Starting the executor's command: its own process group, the caller's signal mask, variables added
// to the environment, no trace of socket activation, and death together with its parent.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace starlease::cli {

struct ChildPlan {
  /// REQUIRES: not empty; the program is looked for in PATH.
  std::vector<std::string> command;
  /// Set in place of what the environment holds.
  std::vector<std::pair<std::string, std::string>> variables;
  sigset_t mask{};
  /// A terminal whose foreground the child takes before it runs; -1: none.
  int terminal = -1;
};

/// Sockets that a service manager has passed to this process (LISTEN_FDS) are closed on exec from
/// now on: the command would keep them open and cannot know of them. Descriptors that a shell has
/// passed stay. REQUIRES: called by the process that the manager started, before it forks.
void keep_passed_sockets();

/// The number of the error that kept the command from starting.
struct StartFailure {
  int error = 0;
};

/// Starts it: the process id, which is its group's too, once the program runs.
[[nodiscard]] std::variant<pid_t, StartFailure> start_child(const ChildPlan& plan);

}  // namespace starlease::cli

// A child process that dies with this one, however this one dies: the kernel kills it (PDEATHSIG)
// when the thread that made it ends, which is the one thread of the daemon.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/uv/loop.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/poll.hpp"

namespace starlease::uv {

struct ChildSpec {
  /// Looked for in PATH where it has no slash.
  std::string program;
  std::vector<std::string> arguments;
};

/// Exactly one of the two says how it ended: `signal` is 0 after an exit.
struct ChildExit {
  int status = 0;
  int signal = 0;
};

class ChildProcess {
 public:
  using Ended = std::move_only_function<void(const ChildExit&)>;

  /// Starts it with standard input and output on /dev/null and standard error inherited; no other
  /// descriptor of ours is passed on. `ended` is called once, on the loop; it may destroy this.
  /// Errors: no_descriptors, system (also when the program cannot be executed).
  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> spawn(Loop& loop, ChildSpec spec,
                                                                   Ended ended);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills and reaps it if it still runs.
  ~ChildProcess();

  [[nodiscard]] int pid() const { return pid_; }
  void kill(int signal) const;

 private:
  ChildProcess(int pid, OwnedFd pidfd, Ended ended)
      : pid_(pid), pidfd_(std::move(pidfd)), ended_(std::move(ended)) {}
  void on_exit();

  int pid_;
  OwnedFd pidfd_;
  Poll poll_;
  Ended ended_;
  bool reaped_ = false;
};

}  // namespace starlease::uv

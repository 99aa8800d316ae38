// Signals as something to read: blocked while this object lives, delivered through a descriptor.
// What was blocked before is kept for a child to get back.
#pragma once

#include <signal.h>

#include <initializer_list>
#include <optional>

#include "lib/client/unique_fd.hpp"

namespace starlease::cli {

class SignalQueue {
 public:
  /// Blocks `signals` and queues them. REQUIRES: the process has one thread.
  explicit SignalQueue(std::initializer_list<int> signals);
  /// Lets them through again; those still queued then act.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  struct Received {
    int number = 0;
    /// Who sent it; 0 for the kernel.
    pid_t sender = 0;
  };
  /// The next one, or nothing. Never blocks.
  [[nodiscard]] std::optional<Received> next();
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The mask as it was before.
  [[nodiscard]] const sigset_t& original_mask() const { return original_; }

 private:
  sigset_t original_{};
  client::UniqueFd fd_;
};

}  // namespace starlease::cli

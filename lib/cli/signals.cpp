// signalfd; see the header.
#include "lib/cli/signals.hpp"

#include <sys/signalfd.h>

namespace starlease::cli {

SignalQueue::SignalQueue(std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : signals) sigaddset(&wanted, signal);
  ::sigprocmask(SIG_BLOCK, &wanted, &original_);
  fd_ = client::UniqueFd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalQueue::~SignalQueue() { ::sigprocmask(SIG_SETMASK, &original_, nullptr); }

std::optional<SignalQueue::Received> SignalQueue::next() {
  signalfd_siginfo info{};
  const ssize_t size = ::read(fd_.get(), &info, sizeof(info));
  if (size != static_cast<ssize_t>(sizeof(info))) return std::nullopt;
  return Received{static_cast<int>(info.ssi_signo),
                  info.ssi_code > 0 ? 0 : static_cast<pid_t>(info.ssi_pid)};
}

}  // namespace starlease::cli

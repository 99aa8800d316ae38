// sd_notify; see the header.
#include "daemon/systemd_notify.hpp"

#include <systemd/sd-daemon.h>

namespace starlease {
namespace {

/// A manager that does not listen changes nothing for us.
void tell(const std::string& state) { ::sd_notify(0, state.c_str()); }

}  // namespace

SystemdNotify::SystemdNotify(const base::Clock& clock, base::Timers& timers)
    : clock_(clock), timers_(timers) {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(0, &microseconds) > 0 && microseconds > 1) {
    every_ = std::chrono::microseconds(microseconds / 2);
  }
}

void SystemdNotify::ready() {
  tell("READY=1");
  if (every_) feed_watchdog();
}

void SystemdNotify::status(const std::string& text) { tell("STATUS=" + text); }

void SystemdNotify::stopping() { tell("STOPPING=1"); }

void SystemdNotify::feed_watchdog() {
  tell("WATCHDOG=1");
  timer_ = timers_.at(clock_.boot_now() + *every_, [this] { feed_watchdog(); });
}

}  // namespace starlease

// Composition of the daemon; see the header.
#include "daemon/daemon.hpp"

#include <utility>

namespace starlease {

Daemon::Daemon(DaemonSettings settings, const Environment& environment)
    : settings_(std::move(settings)),
      principals_(settings_.principals),
      service_(settings_.service, environment.seams, principals_),
      workers_(settings_.ipc, environment.seams, environment.workers, service_,
               ipc::Audience::workers),
      admins_(settings_.ipc, environment.seams, environment.admins, service_,
              ipc::Audience::operators) {
  service_.watch_backend([this](core::BackendState state) {
    if (state == core::BackendState::ready && ready_) std::exchange(ready_, nullptr)();
  });
}

void Daemon::start() {
  service_.start();
  workers_.start();
  admins_.start();
}

void Daemon::when_ready(std::function<void()> ready) {
  if (backend() == core::BackendState::ready) return ready();
  ready_ = std::move(ready);
}

void Daemon::drain(std::function<void()> drained) {
  workers_.stop_accepting();
  admins_.stop_accepting();
  service_.drain([this, drained = std::move(drained)] {
    workers_.close_all();
    admins_.close_all();
    drained();
  });
}

}  // namespace starlease

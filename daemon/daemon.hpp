// The whole daemon over its seams: service, connections, start, turn, drain. One thread; every
// entry from outside must be preceded by turn(), so that losses are told before any other work.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "daemon/environment.hpp"
#include "daemon/ipc/endpoint.hpp"
#include "lib/service/service.hpp"

namespace starlease {

struct DaemonSettings {
  service::Settings service;
  ipc::IpcSettings ipc;
  std::vector<service::PrincipalRow> principals;
};

class Daemon {
 public:
  /// `environment` must outlive the daemon. Nothing happens before start().
  Daemon(DaemonSettings settings, const Environment& environment);

  /// Connects to the store and accepts workers; they are answered whatever state the store is in.
  void start();
  /// First at every wake-up: tells losses that are due, then renews what is due.
  void turn(base::BootTime now) { service_.turn(now); }
  /// Calls `ready` once, when all partitions serve for the first time.
  void when_ready(std::function<void()> ready);
  /// Stops accepting, tells workers, releases leases, closes connections; then `drained`. Bounded.
  void drain(std::function<void()> drained);
  [[nodiscard]] core::BackendState backend() const { return service_.backend(); }

 private:
  const DaemonSettings settings_;
  service::PrincipalTable principals_;
  service::LeaseService service_;
  ipc::Endpoint workers_;
  ipc::Endpoint admins_;
  std::function<void()> ready_;
};

}  // namespace starlease

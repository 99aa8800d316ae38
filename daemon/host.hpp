// The real seams of the daemon, owned in an order in which they can end: loop, clocks, timers, log,
// state directory, audit trail, store and sockets. Makes and holds them; runs nothing.
#pragma once

#include <memory>
#include <string>

#include "daemon/config/valid_config.hpp"
#include "daemon/environment.hpp"
#include "daemon/exit_codes.hpp"
#include "daemon/log/spdlog_log.hpp"
#include "daemon/socket_activation.hpp"
#include "daemon/state_dir.hpp"
#include "daemon/uv/clock.hpp"
#include "daemon/uv/connections.hpp"
#include "daemon/uv/loop.hpp"
#include "daemon/uv/timers.hpp"
#include "daemon/uv/unix_listener.hpp"
#include "daemon/valkey/valkey_store.hpp"
#include "lib/base/system_random.hpp"

namespace starlease {

/// Why the daemon cannot run here, and with which status to end.
struct HostFailure {
  ExitCode code = ExitCode::software;
  std::string message;
};

class Host {
 public:
  /// Takes the state directory and the sockets: from `passed`, or by the paths of `config`.
  [[nodiscard]] static base::Result<std::unique_ptr<Host>, HostFailure> create(
      const config::ValidConfig& config, PassedSockets passed);

  [[nodiscard]] Environment environment();
  [[nodiscard]] uv::Loop& loop() { return *loop_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] base::Timers& timers() { return *timers_; }
  [[nodiscard]] base::Log& log() { return *log_; }
  [[nodiscard]] const valkey::ValkeyStore& store() const { return *store_; }

 private:
  explicit Host(const config::ValidConfig& config);
  [[nodiscard]] base::Result<void, HostFailure> open_loop();
  [[nodiscard]] base::Result<void, HostFailure> open_state(const config::ValidConfig& config);
  [[nodiscard]] base::Result<void, HostFailure> open_audit(const config::AuditSettings& settings);
  [[nodiscard]] base::Result<void, HostFailure> open_sockets(const config::ValidConfig& config,
                                                             PassedSockets passed);

  uv::SystemClock clock_;
  base::SystemRandom random_;
  std::unique_ptr<log::SpdlogLog> log_;
  std::unique_ptr<StateDir> state_;
  std::unique_ptr<service::AuditSink> audit_;
  std::unique_ptr<uv::Loop> loop_;
  std::unique_ptr<uv::Timers> timers_;
  std::unique_ptr<valkey::ValkeyStore> store_;
  std::unique_ptr<uv::Connections> worker_connections_;
  std::unique_ptr<uv::Connections> admin_connections_;
  std::unique_ptr<uv::UnixListener> workers_;
  std::unique_ptr<uv::UnixListener> admins_;
};

}  // namespace starlease

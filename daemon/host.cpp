// Making of the real seams; see the header.
#include "daemon/host.hpp"

#include <utility>

#include <unistd.h>

#include "daemon/audit/file_sink.hpp"
#include "daemon/audit/line_sink.hpp"
#include "daemon/hardening.hpp"
#include "daemon/log/line_fd.hpp"
#include "daemon/real_settings.hpp"

namespace starlease {
namespace {

HostFailure socket_failure(const uv::Error& error) {
  const bool taken = error.kind == uv::ErrorKind::in_use;
  return {taken ? ExitCode::another_instance : ExitCode::cannot_create, error.message};
}

/// The passed socket, or one made at the configured path.
base::Result<std::unique_ptr<uv::UnixListener>, HostFailure> listener(
    uv::Connections& connections, const config::SocketSettings& settings,
    std::optional<uv::OwnedFd> passed) {
  auto made = passed ? uv::UnixListener::adopt(connections, std::move(*passed))
                     : uv::UnixListener::bind(connections, socket_spec(settings));
  if (!made) return base::failed(socket_failure(made.error()));
  return std::move(*made);
}

}  // namespace

Host::Host(const config::ValidConfig& config)
    : log_(std::make_unique<log::SpdlogLog>(log_options(config.log), clock_)) {}

base::Result<std::unique_ptr<Host>, HostFailure> Host::create(const config::ValidConfig& config,
                                                              PassedSockets passed) {
  std::unique_ptr<Host> host(new Host(config));
  if (auto done = host->open_state(config); !done) return base::failed(done.error());
  if (auto done = host->open_audit(config.audit); !done) return base::failed(done.error());
  if (auto done = host->open_loop(); !done) return base::failed(done.error());
  host->store_ = std::make_unique<valkey::ValkeyStore>(*host->loop_, host->clock_, *host->timers_,
                                                       host->random_, *host->log_,
                                                       store_config(config.valkey));
  if (auto done = host->open_sockets(config, std::move(passed)); !done) {
    return base::failed(done.error());
  }
  return host;
}

base::Result<void, HostFailure> Host::open_loop() {
  auto loop = uv::Loop::create(clock_);
  if (!loop) return base::failed(HostFailure{ExitCode::software, loop.error().message});
  loop_ = std::move(*loop);
  auto timers = uv::Timers::create(*loop_);
  if (!timers) return base::failed(HostFailure{ExitCode::software, timers.error().message});
  timers_ = std::move(*timers);
  return {};
}

base::Result<void, HostFailure> Host::open_state(const config::ValidConfig& config) {
  auto state = StateDir::open(config.state_directory, random_, *log_);
  if (state) {
    state_ = std::move(*state);
    return {};
  }
  const bool taken = state.error().error == StateDirError::in_use;
  return base::failed(HostFailure{taken ? ExitCode::another_instance : ExitCode::cannot_create,
                                  state.error().message});
}

base::Result<void, HostFailure> Host::open_audit(const config::AuditSettings& settings) {
  switch (settings.target) {
    case config::AuditTarget::off:
      audit_ = std::make_unique<audit::NullSink>();
      return {};
    case config::AuditTarget::standard_error:
      audit_ = std::make_unique<audit::LineSink>(
          [out = log::LineFd(STDERR_FILENO)](std::string_view line) mutable { out.write(line); });
      return {};
    case config::AuditTarget::file:
      break;
  }
  auto sink =
      audit::FileSink::open({settings.file, settings.rotate_bytes, settings.rotate_count}, *log_);
  if (!sink)
    return base::failed(HostFailure{ExitCode::cannot_create, "audit file " + sink.error()});
  audit_ = std::move(*sink);
  return {};
}

base::Result<void, HostFailure> Host::open_sockets(const config::ValidConfig& config,
                                                   PassedSockets passed) {
  for (const std::string& name : passed.unknown) {
    log_->warning("passed socket has an unknown name; closed", {{"name", name}});
  }
  const std::uint64_t files = open_file_limit();
  if (files < config.ipc.max_connections) {
    log_->warning("fewer open files than ipc.max_connections; raise LimitNOFILE",
                  {{"files", files}, {"max_connections", config.ipc.max_connections}});
  }
  worker_connections_ =
      std::make_unique<uv::Connections>(*loop_, *timers_, *log_, worker_limits(config.ipc, files));
  admin_connections_ =
      std::make_unique<uv::Connections>(*loop_, *timers_, *log_, admin_limits(config.ipc));
  auto workers = listener(*worker_connections_, config.socket, std::move(passed.workers));
  if (!workers) return base::failed(workers.error());
  workers_ = std::move(*workers);
  auto admins = listener(*admin_connections_, config.admin_socket, std::move(passed.admins));
  if (!admins) return base::failed(admins.error());
  admins_ = std::move(*admins);
  return {};
}

Environment Host::environment() {
  return {{clock_, *timers_, random_, *store_, *log_, *audit_, *state_}, *workers_, *admins_};
}

}  // namespace starlease

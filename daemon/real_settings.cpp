// Conversions; see the header.
#include "daemon/real_settings.hpp"

#include <algorithm>

#include "daemon/config/secrets.hpp"
#include "daemon/version.hpp"

namespace starlease {
namespace {

/// Descriptors that are none of the workers': the backend, files, timers, the loop.
constexpr std::uint64_t reserved_files = 64;
constexpr std::size_t max_watched_admins = 64;

valkey::Endpoint endpoint(const config::ValkeySettings& settings) {
  valkey::Endpoint endpoint;
  endpoint.unix_path = settings.unix_path;
  endpoint.host = settings.host;
  endpoint.port = settings.port;
  if (settings.tls) {
    endpoint.tls = {true, settings.tls->ca_file, settings.tls->cert_file, settings.tls->key_file,
                    settings.tls->server_name};
  }
  endpoint.user = settings.user;
  if (!settings.password_path.empty()) {
    endpoint.password = [path = settings.password_path] { return config::read_secret(path); };
  }
  endpoint.connect_timeout = settings.connect_timeout;
  endpoint.reconnect_min = settings.reconnect_min;
  endpoint.reconnect_max = settings.reconnect_max;
  endpoint.ping_every = settings.ping_every;
  endpoint.dead_after = settings.dead_after;
  endpoint.max_pending = settings.max_pending;
  return endpoint;
}

}  // namespace

log::Options log_options(const config::LogSettings& settings) {
  log::Options options;
  options.level = settings.level;
  if (settings.format == config::LogFormat::json) options.format = log::Format::json;
  if (settings.target == config::LogTarget::journald) options.target = log::Target::journald;
  return options;
}

valkey::StoreConfig store_config(const config::ValkeySettings& settings) {
  valkey::StoreConfig store;
  store.endpoint = endpoint(settings);
  store.name_space = settings.namespace_name;
  store.partitions = settings.partitions;
  store.load_functions = settings.load_functions;
  if (settings.durability_none) store.durability = valkey::Durability::none;
  if (settings.suitability_stated) store.suitability = valkey::Suitability::stated;
  store.replicated = settings.replicated;
  return store;
}

DaemonSettings daemon_settings(const config::ValidConfig& config, bool init_namespace) {
  DaemonSettings settings;
  settings.service = config.service;
  settings.service.server_name = std::string("starleased/") + version;
  settings.service.recovery.init_namespace = init_namespace;
  settings.ipc.max_frame_bytes = config.ipc.max_frame_bytes;
  settings.ipc.max_in_flight = config.ipc.max_in_flight;
  settings.ipc.max_connections = config.ipc.max_connections;
  settings.ipc.hello_timeout = config.ipc.hello_timeout;
  settings.principals = config.principals;
  return settings;
}

uv::SocketSpec socket_spec(const config::SocketSettings& settings) {
  uv::SocketSpec spec;
  spec.path = settings.path;
  spec.mode = settings.mode;
  spec.group = settings.group;
  return spec;
}

uv::ConnectionLimits worker_limits(const config::IpcSettings& settings, std::uint64_t open_files) {
  uv::ConnectionLimits limits;
  limits.max_connections = settings.max_connections;
  limits.outbound_bytes = settings.max_outbound_bytes;
  const std::uint64_t taken =
      settings.max_connections + max_admin_connections + max_watched_admins + reserved_files;
  const std::uint64_t left = open_files > taken ? open_files - taken : 0;
  limits.max_watched_peers =
      static_cast<std::size_t>(std::min<std::uint64_t>(settings.max_connections, left));
  return limits;
}

uv::ConnectionLimits admin_limits(const config::IpcSettings& settings) {
  uv::ConnectionLimits limits;
  limits.max_connections = max_admin_connections;
  limits.outbound_bytes = settings.max_outbound_bytes;
  limits.max_watched_peers = max_watched_admins;
  return limits;
}

}  // namespace starlease

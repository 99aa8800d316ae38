// From the checked configuration to what each part of the daemon takes. Renames and narrows only;
// every rule has been checked before.
#pragma once

#include "daemon/config/valid_config.hpp"
#include "daemon/daemon.hpp"
#include "daemon/log/spdlog_log.hpp"
#include "daemon/uv/bound_socket.hpp"
#include "daemon/uv/connections.hpp"
#include "daemon/valkey/endpoint.hpp"

namespace starlease {

/// Operators are few; their socket has a bound of its own, so that workers cannot crowd them out.
inline constexpr std::size_t max_admin_connections = 256;

[[nodiscard]] log::Options log_options(const config::LogSettings& settings);
[[nodiscard]] valkey::StoreConfig store_config(const config::ValkeySettings& settings);
/// `init_namespace`: an operator's word that the namespace is new (a fresh --dev).
[[nodiscard]] DaemonSettings daemon_settings(const config::ValidConfig& config,
                                             bool init_namespace);
[[nodiscard]] uv::SocketSpec socket_spec(const config::SocketSettings& settings);
/// `open_files` bounds how many peers can be watched beside their connections.
[[nodiscard]] uv::ConnectionLimits worker_limits(const config::IpcSettings& settings,
                                                 std::uint64_t open_files);
[[nodiscard]] uv::ConnectionLimits admin_limits(const config::IpcSettings& settings);

}  // namespace starlease

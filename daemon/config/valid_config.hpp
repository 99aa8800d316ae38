// The checked configuration: typed, with accounts resolved and secrets read. Only validate() makes
// one, so that nothing runs on an unchecked value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "daemon/config/config.hpp"
#include "lib/base/log.hpp"
#include "lib/service/authenticate.hpp"
#include "lib/service/settings.hpp"

namespace starlease::config {

using base::Milliseconds;

struct SocketSettings {
  std::string path;
  mode_t mode = 0;
  std::optional<gid_t> group;
};

struct IpcSettings {
  std::size_t max_frame_bytes = 0;
  std::size_t max_outbound_bytes = 0;
  std::size_t max_in_flight = 0;
  std::size_t max_connections = 0;
  Milliseconds hello_timeout{};
};

struct TlsSettings {
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  /// Never empty: the certificate's name is always checked.
  std::string server_name;
};

struct ValkeySettings {
  std::string namespace_name;
  std::uint32_t partitions = 1;
  /// Either this or host and port.
  std::string unix_path;
  std::string host;
  std::uint16_t port = 0;
  std::optional<TlsSettings> tls;
  std::string user;
  /// File of the password, which was readable when the configuration was checked; empty: no AUTH.
  std::string password_path;
  bool load_functions = false;
  /// Nothing needs to survive: tests and development.
  bool durability_none = false;
  bool replicated = false;
  /// The operator states that the server is suitable; its settings are not read.
  bool suitability_stated = false;
  Milliseconds connect_timeout{};
  Milliseconds reconnect_min{};
  Milliseconds reconnect_max{};
  Milliseconds ping_every{};
  Milliseconds dead_after{};
  std::size_t max_pending = 0;
};

enum class LogFormat : std::uint8_t { text, json };
enum class LogTarget : std::uint8_t { standard_error, journald };
struct LogSettings {
  base::LogLevel level = base::LogLevel::info;
  LogFormat format = LogFormat::text;
  LogTarget target = LogTarget::standard_error;
};

enum class AuditTarget : std::uint8_t { off, standard_error, file };
struct AuditSettings {
  AuditTarget target = AuditTarget::off;
  std::string file;
  std::int64_t rotate_bytes = 0;
  int rotate_count = 0;
};

struct ValidConfig {
  std::string state_directory;
  SocketSettings socket;
  SocketSettings admin_socket;
  IpcSettings ipc;
  service::Settings service;
  std::vector<service::PrincipalRow> principals;
  ValkeySettings valkey;
  LogSettings log;
  AuditSettings audit;

  ValidConfig(ValidConfig&&) = default;
  ValidConfig& operator=(ValidConfig&&) = default;

 private:
  ValidConfig() = default;
  friend base::Result<ValidConfig, Problems> validate(const Config& config);
};

}  // namespace starlease::config

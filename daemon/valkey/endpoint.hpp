// Where the Valkey server is and how it is spoken to: addresses, TLS files, credentials, bounds.
// Plain values from the configuration, checked here; nothing is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/base/secret.hpp"

namespace starlease::valkey {

using base::BootTime;
using base::Milliseconds;

/// Longest path of a Unix socket that fits a sockaddr_un with its final zero. Longer ones would be
/// cut silently below us, and two of them could become the same path.
inline constexpr std::size_t max_socket_path_bytes = 107;
/// Partitions times this many bytes is what a namespace may cost in every key.
inline constexpr std::size_t max_namespace_bytes = 64;

/// TLS to the server. Chain and name are always checked, at least TLS 1.2.
struct TlsSettings {
  bool enabled = false;
  /// PEM file of the authorities; empty for the system's.
  std::string ca_file;
  /// PEM files of our own certificate and key; both or neither.
  std::string cert_file;
  std::string key_file;
  /// What the certificate must name; empty for the host. An address is matched with the
  /// certificate's addresses, anything else with its DNS names.
  std::string server_name;
};

/// Reads the password anew for each connection, so that it can be changed while we run. The error
/// is a sentence without the secret. An empty function means that no password is sent.
using PasswordSource = std::function<base::Result<base::Secret, std::string>()>;

struct Endpoint {
  /// Either this or host.
  std::string unix_path;
  std::string host;
  std::uint16_t port = 6379;
  TlsSettings tls;
  /// Empty for the server's default user.
  std::string user;
  PasswordSource password;

  /// From the start of an attempt (name resolution included) to the answer to HELLO.
  Milliseconds connect_timeout{2000};
  /// Back-off between attempts: doubles from the first to the second, jittered.
  Milliseconds reconnect_min{20};
  Milliseconds reconnect_max{2000};
  /// A link on which nothing has come in for this long is asked with PING.
  Milliseconds ping_every{5000};
  /// With calls outstanding and no answer to anything for this long, the link counts as dead.
  Milliseconds dead_after{5000};
  /// Calls handed over and not answered; past it a call is refused.
  std::size_t max_pending = 65536;
};

/// What an acknowledged write must survive.
enum class Durability : std::uint8_t {
  always,  ///< power loss: append-only file, synced before each answer
  none,    ///< nothing: tests and development only
};

/// Where the server's settings are learnt from.
enum class Suitability : std::uint8_t {
  check,   ///< CONFIG GET
  stated,  ///< the operator vouches for what the daemon's user may not read
};

struct StoreConfig {
  Endpoint endpoint;
  /// 1 to 64 of [a-z0-9._-]; the keys are {starlease:<namespace>:<partition>}...
  std::string name_space = "default";
  std::uint32_t partitions = 1;
  /// Load the function library on demand (the user then needs +function|load).
  bool load_functions = false;
  Durability durability = Durability::always;
  Suitability suitability = Suitability::check;
  /// The set-up has replicas even if none is connected just now.
  bool replicated = false;
};

/// Nothing, or the first thing that cannot be, as a sentence for the operator.
[[nodiscard]] base::Result<void, std::string> check_endpoint(const Endpoint& endpoint);
[[nodiscard]] base::Result<void, std::string> check_store_config(const StoreConfig& config);

/// "unix:/run/valkey.sock" or "valkey.example:6379", for logs.
[[nodiscard]] std::string describe(const Endpoint& endpoint);

/// True for a literal IPv4 or IPv6 address.
[[nodiscard]] bool is_address(std::string_view host);

}  // namespace starlease::valkey

// The first exchange on a connection: HELLO with credentials, and what the server says of itself.
#pragma once

#include <optional>
#include <string>

#include "daemon/valkey/endpoint.hpp"
#include "daemon/valkey/fault.hpp"

struct redisReply;

namespace starlease::valkey {

/// HELLO 3 with AUTH and SETNAME as a finished command. It holds the password: wipe it after use.
/// The error says why the password could not be had.
[[nodiscard]] base::Result<std::string, std::string> greeting(const Endpoint& endpoint,
                                                              std::string_view name);

/// Why the server did not accept the greeting; nothing if it did.
[[nodiscard]] std::optional<Fault> refusal(const redisReply& reply);

struct ServerHello {
  std::string server;   ///< "valkey", "redis"
  std::string version;  ///< "8.0.1"
  std::string mode;     ///< "standalone", "cluster", "sentinel"
  std::string role;     ///< "master", "replica"
};
[[nodiscard]] base::Result<ServerHello, Fault> parse_hello(const redisReply& reply);

}  // namespace starlease::valkey

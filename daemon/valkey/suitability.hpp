// Is this server fit to keep leases? design.md 6. Facts are read from INFO and CONFIG GET; the
// verdict is a pure function over them that says what to change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/valkey/endpoint.hpp"
#include "daemon/valkey/fault.hpp"

struct redisReply;

namespace starlease::valkey {

/// What is known of a server. An absent value could not be read.
struct ServerFacts {
  /// "valkey" or what else it calls itself, and its version.
  std::string product;
  std::string version;
  std::string mode;  ///< "standalone", "cluster", "sentinel"
  std::string role;  ///< "master", "slave"
  bool loading = false;
  std::int64_t connected_replicas = 0;
  std::optional<std::string> maxmemory_policy;
  std::optional<bool> append_only;
  std::optional<std::string> append_fsync;
  std::optional<bool> fsync_paused_by_rewrite;
  std::optional<std::int64_t> min_replicas_to_write;
  std::optional<std::int64_t> min_replicas_max_lag_s;
};

/// Takes what INFO tells (sections server, memory, persistence, replication, cluster).
void read_info(std::string_view info, ServerFacts& facts);
/// Takes what CONFIG GET tells. False if the reply is no map of names to texts.
[[nodiscard]] bool read_config(const redisReply& reply, ServerFacts& facts);

/// Why the server must not be used under `config`; nothing if it may be.
[[nodiscard]] std::optional<Fault> unfit(const ServerFacts& facts, const StoreConfig& config);

}  // namespace starlease::valkey

// Facts and verdict; see the header.
#include "daemon/valkey/suitability.hpp"

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include <array>
#include <charconv>
#include <tuple>

#include "daemon/valkey/reply.hpp"

namespace starlease::valkey {
namespace {

/// An old primary that is cut off goes on acknowledging for this long at most.
constexpr std::int64_t max_lag_allowed_s = 10;

using Version = std::tuple<int, int, int>;
constexpr Version least_version{7, 2, 5};

std::optional<Version> parse_version(std::string_view text) {
  std::array<int, 3> parts{};
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (int& part : parts) {
    const auto read = std::from_chars(at, end, part);
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
    if (at != end && *at == '.') ++at;
  }
  return Version{parts[0], parts[1], parts[2]};
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

void take_info(std::string_view name, std::string_view value, ServerFacts& facts) {
  if (name == "server_name") facts.product = value;
  if (name == "valkey_version") {
    facts.product = "valkey";
    facts.version = value;
  }
  if (name == "redis_version" && facts.version.empty()) facts.version = value;
  if (name == "server_mode" || (name == "redis_mode" && facts.mode.empty())) facts.mode = value;
  if (name == "role") facts.role = value;
  if (name == "loading") facts.loading = value == "1";
  if (name == "connected_slaves") facts.connected_replicas = number(value).value_or(0);
  if (name == "aof_enabled") facts.append_only = value == "1";
  if (name == "maxmemory_policy") facts.maxmemory_policy = std::string(value);
}

Fault setting(std::string_view name, std::string_view is, std::string_view should,
              std::string_view why) {
  return {fmt::format("the server has {} {}: {}", name, is, why),
          fmt::format("on the server, CONFIG SET {} {} and write it to its configuration file",
                      name, should)};
}

std::optional<Fault> wrong_server(const ServerFacts& facts) {
  const auto version = parse_version(facts.version);
  if (facts.product != "valkey" || !version || *version < least_version) {
    return Fault{fmt::format("the server is {} {}",
                             facts.product.empty() ? "not Valkey, but of version" : facts.product,
                             facts.version),
                 "Valkey 7.2.5 or newer is needed"};
  }
  if (facts.mode == "sentinel") {
    return Fault{"this is a Sentinel, not a data server", "name the primary that it watches"};
  }
  if (facts.role != "master") {
    return Fault{"the server is a replica", "name the primary, or an address that follows it"};
  }
  return std::nullopt;
}

std::optional<Fault> forgets_writes(const ServerFacts& facts, bool stated) {
  if (facts.maxmemory_policy && *facts.maxmemory_policy != "noeviction") {
    return setting("maxmemory-policy", *facts.maxmemory_policy, "noeviction",
                   "it would throw leases and counters away when memory is short");
  }
  if (facts.append_only && !*facts.append_only) {
    return setting("appendonly", "no", "yes", "acknowledged leases would be lost with the process");
  }
  if (facts.append_fsync && *facts.append_fsync != "always") {
    return setting("appendfsync", *facts.append_fsync, "always",
                   "acknowledged leases would be lost with the power");
  }
  if (facts.fsync_paused_by_rewrite.value_or(false)) {
    return setting("no-appendfsync-on-rewrite", "yes", "no",
                   "while the append-only file is rewritten nothing would be synced");
  }
  const bool known = facts.maxmemory_policy && facts.append_only && facts.append_fsync;
  if (known || stated) return std::nullopt;
  return Fault{"the server's settings cannot be read",
               "grant the daemon's user +config|get, or set valkey.suitability = \"stated\""};
}

std::optional<Fault> outlives_isolation(const ServerFacts& facts, const StoreConfig& config) {
  if (!config.replicated && facts.connected_replicas == 0) return std::nullopt;
  if (facts.min_replicas_to_write.value_or(1) < 1) {
    return setting("min-replicas-to-write", "0", "1",
                   "an old primary that is cut off would go on granting leases that vanish");
  }
  const std::int64_t lag = facts.min_replicas_max_lag_s.value_or(max_lag_allowed_s);
  if (lag == 0 || lag > max_lag_allowed_s) {
    return setting("min-replicas-max-lag", std::to_string(lag), std::to_string(max_lag_allowed_s),
                   "an old primary that is cut off would go on granting leases that vanish");
  }
  return std::nullopt;
}

}  // namespace

void read_info(std::string_view info, ServerFacts& facts) {
  while (!info.empty()) {
    const std::size_t end = info.find("\r\n");
    const std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      take_info(line.substr(0, colon), line.substr(colon + 1), facts);
    }
  }
}

bool read_config(const redisReply& reply, ServerFacts& facts) {
  if (reply.type != REDIS_REPLY_MAP) return false;
  const auto value = [&reply](std::string_view name) -> std::optional<std::string> {
    const redisReply* found = find(reply, name);
    const auto text = found == nullptr ? std::nullopt : text_of(*found);
    return text ? std::optional(std::string(*text)) : std::nullopt;
  };
  facts.maxmemory_policy = value("maxmemory-policy");
  const auto append_only = value("appendonly");
  if (append_only) facts.append_only = *append_only == "yes";
  facts.append_fsync = value("appendfsync");
  const auto paused = value("no-appendfsync-on-rewrite");
  if (paused) facts.fsync_paused_by_rewrite = *paused == "yes";
  facts.min_replicas_to_write = number(value("min-replicas-to-write").value_or(""));
  facts.min_replicas_max_lag_s = number(value("min-replicas-max-lag").value_or(""));
  return true;
}

std::optional<Fault> unfit(const ServerFacts& facts, const StoreConfig& config) {
  if (auto wrong = wrong_server(facts)) return wrong;
  if (config.durability == Durability::none) return std::nullopt;
  const bool stated = config.suitability == Suitability::stated;
  if (auto forgets = forgets_writes(facts, stated)) return forgets;
  return outlives_isolation(facts, config);
}

}  // namespace starlease::valkey

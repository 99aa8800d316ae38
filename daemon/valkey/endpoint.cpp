// Checks of the configured endpoint; see the header.
#include "daemon/valkey/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>

#include "lib/core/limits.hpp"

namespace starlease::valkey {
namespace {

base::Result<void, std::string> check_place(const Endpoint& endpoint) {
  if (endpoint.unix_path.empty() == endpoint.host.empty()) {
    return base::failed(std::string("give either the path of a Unix socket or a host"));
  }
  if (!endpoint.unix_path.empty()) {
    const std::size_t length = endpoint.unix_path.size();
    if (length > max_socket_path_bytes) {
      return base::failed(fmt::format("the socket path has {} bytes; at most {} are possible",
                                      length, max_socket_path_bytes));
    }
    if (endpoint.unix_path.find('\0') != std::string::npos) {
      return base::failed(std::string("the socket path holds a zero byte"));
    }
    if (endpoint.tls.enabled) {
      return base::failed(std::string("TLS needs a host; a Unix socket does without"));
    }
    return {};
  }
  if (endpoint.port == 0) return base::failed(std::string("the port is 0"));
  return {};
}

base::Result<void, std::string> check_bounds(const Endpoint& endpoint) {
  using std::chrono::milliseconds;
  if (endpoint.connect_timeout <= milliseconds(0) || endpoint.ping_every <= milliseconds(0) ||
      endpoint.dead_after <= milliseconds(0) || endpoint.reconnect_min <= milliseconds(0) ||
      endpoint.reconnect_max < endpoint.reconnect_min || endpoint.max_pending == 0) {
    return base::failed(
        std::string("timeouts and bounds must be positive, and the longest wait "
                    "between connections not shorter than the shortest"));
  }
  return {};
}

bool namespace_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

base::Result<void, std::string> check_endpoint(const Endpoint& endpoint) {
  if (auto place = check_place(endpoint); !place) return place;
  if (endpoint.tls.cert_file.empty() != endpoint.tls.key_file.empty()) {
    return base::failed(
        std::string("a client certificate needs its key, and a key its certificate"));
  }
  if (!endpoint.user.empty() && !endpoint.password) {
    return base::failed(std::string("a user is named, but no password"));
  }
  return check_bounds(endpoint);
}

base::Result<void, std::string> check_store_config(const StoreConfig& config) {
  if (auto endpoint = check_endpoint(config.endpoint); !endpoint) return endpoint;
  if (config.name_space.empty() || config.name_space.size() > max_namespace_bytes ||
      !std::ranges::all_of(config.name_space, namespace_character)) {
    return base::failed(
        fmt::format("the namespace must be 1 to {} of [a-z0-9._-]", max_namespace_bytes));
  }
  if (config.partitions == 0 || config.partitions > core::limits::largest_partition_count) {
    return base::failed(
        fmt::format("the partition count must be 1 to {}", core::limits::largest_partition_count));
  }
  return {};
}

std::string describe(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "unix:" + endpoint.unix_path;
  return fmt::format("{}:{}", endpoint.host, endpoint.port);
}

bool is_address(std::string_view host) {
  const std::string text(host);
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

}  // namespace starlease::valkey

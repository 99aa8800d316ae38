// The configuration as read: one plain field for each row of keys.def, types checked one by one and
// nothing else. It cannot be used as it is; validate() makes a ValidConfig of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/config/raw_value.hpp"

namespace starlease::config {

/// One [[principal]] table; rows of principal_keys.def.
struct Principal {
  std::string id;
  std::string client_id;
  std::string credential_id;
  std::string principal_class;
  std::string uid;
  std::string gid;
  std::vector<std::string> capabilities;
  std::vector<std::string> tenants;
  std::vector<std::string> programs;
  std::vector<std::string> target_namespaces;
  std::vector<std::string> targets;
  std::vector<std::string> actors;
  std::vector<std::string> workflows;
  std::vector<std::string> operation_classes;
  /// Where the table began.
  Origin origin;
};

struct Config {
  std::string state_directory;
  struct Socket {
    std::string path;
    std::int64_t mode = 0;
    std::string group;
  } socket, admin_socket;
  struct Ipc {
    std::int64_t max_frame_bytes = 0;
    std::int64_t max_outbound_bytes = 0;
    std::int64_t max_in_flight = 0;
    std::int64_t max_connections = 0;
    std::int64_t hello_timeout_ms = 0;
  } ipc;
  struct Limits {
    std::int64_t max_sessions = 0;
    std::int64_t max_leases = 0;
    std::int64_t max_leases_per_session = 0;
    std::int64_t requests_per_second = 0;
    std::int64_t max_waiters = 0;
    std::int64_t max_waiters_per_lock = 0;
  } limits;
  struct Policy {
    std::int64_t minimum_ttl_ms = 0;
    std::int64_t maximum_ttl_ms = 0;
    std::int64_t default_ttl_ms = 0;
    std::int64_t maximum_lifetime_ms = 0;
    std::int64_t maximum_wait_ms = 0;
    std::int64_t default_timeout_ms = 0;
    std::int64_t maximum_timeout_ms = 0;
    std::int64_t safety_margin_ms = 0;
    std::int64_t retry_window_ms = 0;
    std::int64_t lock_delay_ms = 0;
    std::int64_t drift_ppm = 0;
  } policy;
  struct Renewal {
    std::int64_t tick_ms = 0;
  } renewal;
  struct Administrators {
    std::vector<std::string> keys;
  } administrators;
  struct Identity {
    std::vector<std::string> operation_classes;
    std::vector<std::string> case_sensitive_namespaces;
  } identity;
  struct Recovery {
    std::string on_restart;
    std::string grace;
    std::int64_t clock_tolerance_ms = 0;
  } recovery;
  struct Valkey {
    std::string name_space;
    std::int64_t partitions = 0;
    std::string unix_path;
    std::string host;
    std::int64_t port = 0;
    bool allow_plaintext = false;
    std::string user;
    std::string password_file;
    std::string password_credential;
    bool load_functions = false;
    std::string durability;
    bool replicated = false;
    std::string suitability;
    std::int64_t connect_timeout_ms = 0;
    std::int64_t reconnect_min_ms = 0;
    std::int64_t reconnect_max_ms = 0;
    std::int64_t ping_every_ms = 0;
    std::int64_t dead_after_ms = 0;
    std::int64_t max_pending = 0;
    struct Tls {
      bool enabled = false;
      std::string ca_file;
      std::string cert_file;
      std::string key_file;
      std::string server_name;
    } tls;
  } valkey;
  struct Log {
    std::string level;
    std::string format;
    std::string target;
  } log;
  struct Audit {
    std::string target;
    std::int64_t rotate_bytes = 0;
    std::int64_t rotate_count = 0;
  } audit;

  std::vector<Principal> principals;
  /// Where each key that was set was set; a key that is not here has its default.
  std::map<std::string, Origin, std::less<>> origins;
};

}  // namespace starlease::config

// Rules between keys; see the header. One function a section, in the order of keys.def.
#include "daemon/config/validate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "daemon/config/accounts.hpp"
#include "daemon/config/apply.hpp"
#include "daemon/config/checks.hpp"
#include "daemon/config/principals.hpp"
#include "daemon/config/toml_loader.hpp"
#include "daemon/config/valkey_rules.hpp"

namespace starlease::config {
namespace {

SocketSettings socket_settings(const Config::Socket& raw, const std::string& section,
                               Checks& checks) {
  check_socket_path(raw.path, section + ".path", checks);
  SocketSettings settings{raw.path, static_cast<mode_t>(raw.mode), std::nullopt};
  if (!raw.group.empty()) {
    settings.group = group_id(raw.group);
    checks.require(settings.group.has_value(), section + ".group",
                   fmt::format("is \"{}\"; there is no such group here", raw.group));
  }
  return settings;
}

IpcSettings ipc_settings(const Config& raw, Checks& checks) {
  // A whole answer must fit beside one that is being read.
  checks.require(raw.ipc.max_outbound_bytes >= 2 * raw.ipc.max_frame_bytes,
                 "ipc.max_outbound_bytes",
                 fmt::format("is {}; allowed: at least twice ipc.max_frame_bytes ({})",
                             raw.ipc.max_outbound_bytes, raw.ipc.max_frame_bytes));
  return {static_cast<std::size_t>(raw.ipc.max_frame_bytes),
          static_cast<std::size_t>(raw.ipc.max_outbound_bytes),
          static_cast<std::size_t>(raw.ipc.max_in_flight),
          static_cast<std::size_t>(raw.ipc.max_connections),
          Milliseconds(raw.ipc.hello_timeout_ms)};
}

void check_policy(const Config::Policy& p, Checks& checks) {
  checks.require(p.minimum_ttl_ms <= p.maximum_ttl_ms, "policy.maximum_ttl_ms",
                 fmt::format("is {}; allowed: at least policy.minimum_ttl_ms ({})",
                             p.maximum_ttl_ms, p.minimum_ttl_ms));
  checks.require(
      p.minimum_ttl_ms <= p.default_ttl_ms && p.default_ttl_ms <= p.maximum_ttl_ms,
      "policy.default_ttl_ms",
      fmt::format("is {}; allowed: policy.minimum_ttl_ms ({}) to policy.maximum_ttl_ms ({})",
                  p.default_ttl_ms, p.minimum_ttl_ms, p.maximum_ttl_ms));
  checks.require(p.maximum_lifetime_ms >= p.minimum_ttl_ms, "policy.maximum_lifetime_ms",
                 fmt::format("is {}; allowed: at least policy.minimum_ttl_ms ({})",
                             p.maximum_lifetime_ms, p.minimum_ttl_ms));
  checks.require(p.default_timeout_ms <= p.maximum_timeout_ms, "policy.default_timeout_ms",
                 fmt::format("is {}; allowed: at most policy.maximum_timeout_ms ({})",
                             p.default_timeout_ms, p.maximum_timeout_ms));
  checks.require(
      p.maximum_wait_ms <= p.maximum_timeout_ms, "policy.maximum_wait_ms",
      fmt::format("is {}; allowed: at most policy.maximum_timeout_ms ({}), which would cut it",
                  p.maximum_wait_ms, p.maximum_timeout_ms));
  checks.require(p.safety_margin_ms * 5 <= p.maximum_ttl_ms, "policy.safety_margin_ms",
                 fmt::format("is {}; allowed: at most a fifth of policy.maximum_ttl_ms ({})",
                             p.safety_margin_ms, p.maximum_ttl_ms));
}

core::LeasePolicy lease_policy(const Config::Policy& p) {
  core::LeasePolicy policy;
  policy.minimum_ttl = Milliseconds(p.minimum_ttl_ms);
  policy.maximum_ttl = Milliseconds(p.maximum_ttl_ms);
  policy.default_ttl = Milliseconds(p.default_ttl_ms);
  policy.maximum_lifetime = Milliseconds(p.maximum_lifetime_ms);
  policy.maximum_wait = Milliseconds(p.maximum_wait_ms);
  policy.default_timeout = Milliseconds(p.default_timeout_ms);
  policy.maximum_timeout = Milliseconds(p.maximum_timeout_ms);
  policy.safety_margin = Milliseconds(p.safety_margin_ms);
  policy.retry_window = Milliseconds(p.retry_window_ms);
  policy.lock_delay = Milliseconds(p.lock_delay_ms);
  policy.drift_ppm = p.drift_ppm;
  return policy;
}

/// The list in normalized form; each item must be one that an identity can have.
std::vector<std::string> components(const std::vector<std::string>& raw, core::Component component,
                                    std::string_view key, Checks& checks) {
  std::vector<std::string> list;
  for (const std::string& text : raw) {
    auto normal = normalized_component(component, text, false);
    checks.require(normal.has_value(), key,
                   fmt::format("holds \"{}\"; allowed: what can be {} in a lock identity", text,
                               core::component_names[static_cast<std::size_t>(component)]));
    if (normal) list.push_back(std::move(*normal));
  }
  return list;
}

core::IdentityPolicy identity_policy(const Config::Identity& raw, Checks& checks) {
  core::IdentityPolicy policy;
  policy.operation_classes = components(raw.operation_classes, core::Component::operation_class,
                                        "identity.operation_classes", checks);
  policy.case_sensitive_namespaces =
      components(raw.case_sensitive_namespaces, core::Component::target_namespace,
                 "identity.case_sensitive_namespaces", checks);
  checks.require(!raw.operation_classes.empty(), "identity.operation_classes",
                 "is empty; allowed: at least one class, such as \"default\"");
  return policy;
}

std::vector<core::AdministratorKey> administrator_keys(const Config::Administrators& raw,
                                                       Checks& checks) {
  std::vector<core::AdministratorKey> keys;
  for (const std::string& entry : raw.keys) {
    const std::size_t colon = entry.find(':');
    const auto key =
        colon == std::string::npos ? std::nullopt : base::parse_public_key(entry.substr(colon + 1));
    const std::string id = entry.substr(0, std::min(colon, entry.size()));
    checks.require(
        key.has_value() && !id.empty() && id.size() <= core::limits::id_bytes,
        "administrators.keys",
        fmt::format("holds \"{}\"; allowed: \"id:key\" as starlease admin keygen prints it",
                    entry));
    const bool twice = std::ranges::find(keys, id, &core::AdministratorKey::id) != keys.end();
    checks.require(!twice, "administrators.keys",
                   fmt::format("holds the id \"{}\" twice; allowed: once", id));
    if (key) keys.push_back({id, *key});
  }
  return keys;
}

service::Settings service_settings(const Config& raw, Checks& checks) {
  check_policy(raw.policy, checks);
  service::Settings settings;
  settings.namespace_name = raw.valkey.name_space;
  settings.max_frame_bytes = raw.ipc.max_frame_bytes;
  settings.policy = lease_policy(raw.policy);
  settings.identities = identity_policy(raw.identity, checks);
  settings.administrators = administrator_keys(raw.administrators, checks);
  settings.recovery.on_restart = raw.recovery.on_restart == "trust-durable"
                                     ? service::OnRestart::trust_durable
                                     : service::OnRestart::new_epoch;
  settings.recovery.grace =
      raw.recovery.grace == "none" ? store::RecoveryGrace::none : store::RecoveryGrace::ttl;
  settings.recovery.writes_survive = raw.valkey.durability == "always" && !raw.valkey.replicated;
  settings.recovery.clock_tolerance = Milliseconds(raw.recovery.clock_tolerance_ms);
  settings.admission.max_sessions = static_cast<std::size_t>(raw.limits.max_sessions);
  settings.admission.requests_per_second = static_cast<std::size_t>(raw.limits.requests_per_second);
  settings.admission.max_leases = static_cast<std::size_t>(raw.limits.max_leases);
  settings.admission.max_leases_per_session =
      static_cast<std::size_t>(raw.limits.max_leases_per_session);
  settings.admission.max_waiters = static_cast<std::size_t>(raw.limits.max_waiters);
  settings.admission.max_waiters_per_lock =
      static_cast<std::size_t>(raw.limits.max_waiters_per_lock);
  settings.renewal_tick = Milliseconds(raw.renewal.tick_ms);
  return settings;
}

LogSettings log_settings(const Config::Log& raw) {
  LogSettings settings;
  if (raw.level == "debug") settings.level = base::LogLevel::debug;
  if (raw.level == "warning") settings.level = base::LogLevel::warning;
  if (raw.level == "error") settings.level = base::LogLevel::error;
  if (raw.format == "json") settings.format = LogFormat::json;
  if (raw.target == "journald") settings.target = LogTarget::journald;
  return settings;
}

AuditSettings audit_settings(const Config::Audit& raw, Checks& checks) {
  AuditSettings settings;
  settings.rotate_bytes = raw.rotate_bytes;
  settings.rotate_count = static_cast<int>(raw.rotate_count);
  if (raw.target == "off") return settings;
  settings.target = raw.target == "stderr" ? AuditTarget::standard_error : AuditTarget::file;
  if (settings.target == AuditTarget::file) settings.file = raw.target;
  checks.require(
      settings.target != AuditTarget::file || raw.target.starts_with('/'), "audit.target",
      fmt::format("is \"{}\"; allowed: \"off\", \"stderr\" or an absolute path", raw.target));
  return settings;
}

}  // namespace

base::Result<ValidConfig, Problems> validate(const Config& config) {
  Checks checks(config);
  ValidConfig valid;
  valid.state_directory = config.state_directory;
  checks.require(config.state_directory.starts_with('/'), "state_directory",
                 fmt::format("is \"{}\"; allowed: an absolute path", config.state_directory));
  valid.socket = socket_settings(config.socket, "socket", checks);
  valid.admin_socket = socket_settings(config.admin_socket, "admin_socket", checks);
  checks.require(config.socket.path != config.admin_socket.path, "admin_socket.path",
                 "is the same as socket.path; allowed: a socket of its own");
  valid.ipc = ipc_settings(config, checks);
  valid.service = service_settings(config, checks);
  valid.valkey = valkey_settings(config.valkey, checks);
  valid.log = log_settings(config.log);
  valid.audit = audit_settings(config.audit, checks);
  valid.principals = principal_rows(config, checks);
  if (!checks.ok()) return base::failed(std::move(checks).take());
  return valid;
}

base::Result<ValidConfig, Problems> load(const std::string& file, const RawEntries& more) {
  RawEntries entries;
  if (!file.empty()) {
    auto read = load_toml(file);
    if (!read) return base::failed(std::move(read.error()));
    entries = std::move(*read);
  }
  entries.insert(entries.end(), more.begin(), more.end());
  const auto config = apply(entries);
  if (!config) return base::failed(config.error());
  return validate(*config);
}

}  // namespace starlease::config

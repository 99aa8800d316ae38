// Checks of the backend's section; see the header.
#include "daemon/config/valkey_rules.hpp"

#include <fmt/format.h>

#include "daemon/config/read_file.hpp"
#include "daemon/config/secrets.hpp"

namespace starlease::config {
namespace {

/// Certificates and keys of a deployment; a bundle of a whole system's authorities fits too.
constexpr std::size_t max_pem_bytes = 4 << 20;

bool is_namespace(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") ==
             std::string_view::npos;
}

void check_address(const Config::Valkey& raw, Checks& checks) {
  checks.require(raw.unix_path.empty() != raw.host.empty(), "valkey.unix_path",
                 "or valkey.host must be given, and not both");
  if (!raw.unix_path.empty()) check_socket_path(raw.unix_path, "valkey.unix_path", checks);
  checks.require(
      raw.unix_path.empty() || !raw.tls.enabled, "valkey.tls.enabled",
      "is true; allowed: only with valkey.host, as a Unix socket does not leave this host");
  checks.require(
      raw.host.empty() || raw.tls.enabled || raw.allow_plaintext, "valkey.host",
      "is reached without TLS; set valkey.tls.enabled = true, or valkey.allow_plaintext = "
      "true to accept that");
}

void check_pem(const std::string& path, std::string_view key, Privacy privacy, Checks& checks) {
  if (path.empty()) return;
  auto bytes = read_file(path, max_pem_bytes, privacy);
  checks.require(bytes.has_value(), key,
                 bytes ? "" : fmt::format("is \"{}\", which {}", path, bytes.error()));
  if (bytes) base::wipe(*bytes);
}

std::optional<TlsSettings> tls_settings(const Config::Valkey& raw, Checks& checks) {
  if (!raw.tls.enabled) return std::nullopt;
  check_pem(raw.tls.ca_file, "valkey.tls.ca_file", Privacy::any, checks);
  check_pem(raw.tls.cert_file, "valkey.tls.cert_file", Privacy::any, checks);
  check_pem(raw.tls.key_file, "valkey.tls.key_file", Privacy::secret, checks);
  checks.require(raw.tls.cert_file.empty() == raw.tls.key_file.empty(), "valkey.tls.key_file",
                 "and valkey.tls.cert_file go together; give both or neither");
  return TlsSettings{raw.tls.ca_file, raw.tls.cert_file, raw.tls.key_file,
                     raw.tls.server_name.empty() ? raw.host : raw.tls.server_name};
}

/// The file that holds the password, which must hold a usable one now.
std::string password_path(const Config::Valkey& raw, Checks& checks) {
  checks.require(raw.password_file.empty() || raw.password_credential.empty(),
                 "valkey.password_file", "and valkey.password_credential are both set; give one");
  std::string path = raw.password_file;
  std::string_view key = "valkey.password_file";
  if (!raw.password_credential.empty()) {
    key = "valkey.password_credential";
    auto found = credential_path(raw.password_credential);
    if (!found) checks.fail(key, "is unusable: " + found.error());
    path = found.value_or("");
  }
  checks.require(raw.user.empty() || !raw.password_file.empty() || !raw.password_credential.empty(),
                 "valkey.user",
                 "is set without a password; add password_file or password_credential");
  if (path.empty()) return path;
  const auto secret = read_secret(path);
  if (!secret) checks.fail(key, "is unusable: " + secret.error());
  return path;
}

}  // namespace

void check_socket_path(const std::string& path, std::string_view key, Checks& checks) {
  checks.require(path.starts_with('/'), key,
                 fmt::format("is \"{}\"; allowed: an absolute path", path));
  checks.require(path.size() <= max_socket_path_bytes, key,
                 fmt::format("is {} bytes long; a socket's path has at most {}: \"{}\"",
                             path.size(), max_socket_path_bytes, path));
}

ValkeySettings valkey_settings(const Config::Valkey& raw, Checks& checks) {
  checks.require(
      is_namespace(raw.name_space), "valkey.namespace",
      fmt::format("is \"{}\"; allowed: 1 to 64 of [a-z0-9._-], not beginning with . or -",
                  raw.name_space));
  check_address(raw, checks);
  checks.require(raw.reconnect_min_ms <= raw.reconnect_max_ms, "valkey.reconnect_min_ms",
                 fmt::format("is {}; allowed: at most valkey.reconnect_max_ms ({})",
                             raw.reconnect_min_ms, raw.reconnect_max_ms));
  ValkeySettings settings;
  settings.namespace_name = raw.name_space;
  settings.partitions = static_cast<std::uint32_t>(raw.partitions);
  settings.unix_path = raw.unix_path;
  settings.host = raw.host;
  settings.port = static_cast<std::uint16_t>(raw.port);
  settings.tls = tls_settings(raw, checks);
  settings.user = raw.user;
  settings.password_path = password_path(raw, checks);
  settings.load_functions = raw.load_functions;
  settings.durability_none = raw.durability == "none";
  settings.replicated = raw.replicated;
  settings.suitability_stated = raw.suitability == "stated";
  settings.connect_timeout = Milliseconds(raw.connect_timeout_ms);
  settings.reconnect_min = Milliseconds(raw.reconnect_min_ms);
  settings.reconnect_max = Milliseconds(raw.reconnect_max_ms);
  settings.ping_every = Milliseconds(raw.ping_every_ms);
  settings.dead_after = Milliseconds(raw.dead_after_ms);
  settings.max_pending = static_cast<std::size_t>(raw.max_pending);
  return settings;
}

}  // namespace starlease::config

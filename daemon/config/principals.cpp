// Checks of principals; see the header.
#include "daemon/config/principals.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "daemon/config/accounts.hpp"
#include "lib/core/limits.hpp"

namespace starlease::config {
namespace {

using core::Component;

bool is_id(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  return !text.empty() && text.size() <= core::limits::id_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string id_or(const std::string& text, std::string otherwise) {
  if (!text.empty()) return text;
  return otherwise;
}

/// One principal's checks; every message begins with its id.
class Reader {
 public:
  Reader(const Principal& raw, const Config& config, Checks& checks)
      : raw_(raw), config_(config), checks_(checks) {}

  service::PrincipalRow read() {
    require(is_id(raw_.id), "id must be 1 to 128 of [A-Za-z0-9._:-]");
    service::PrincipalRow row;
    read_accounts(row);
    const std::string client = id_or(raw_.client_id, raw_.id);
    const std::string credential = id_or(raw_.credential_id, fmt::format("uid-{}", row.uid));
    require(is_id(client), "client_id must be up to 128 of [A-Za-z0-9._:-]");
    require(is_id(credential), "credential_id must be up to 128 of [A-Za-z0-9._:-]");
    require(is_id(raw_.principal_class), "class must be 1 to 128 of [A-Za-z0-9._:-]");
    row.principal.id = core::PrincipalId(raw_.id);
    row.principal.client = core::ClientId(client);
    row.principal.credential = core::CredentialId(credential);
    row.principal.principal_class = raw_.principal_class;
    row.principal.capabilities = capabilities();
    read_scope(row.principal);
    return row;
  }

 private:
  void require(bool holds, std::string message) {
    if (!holds) {
      checks_.fail_at(raw_.origin, fmt::format("principal \"{}\": {}", raw_.id, message));
    }
  }

  void read_accounts(service::PrincipalRow& row) {
    const auto uid = user_id(raw_.uid);
    require(uid.has_value(), raw_.uid.empty()
                                 ? "uid is missing: the user (number or name) whose processes it is"
                                 : fmt::format("uid \"{}\": there is no such user here", raw_.uid));
    row.uid = uid.value_or(0);
    if (raw_.gid.empty()) return;
    const auto gid = group_id(raw_.gid);
    require(gid.has_value(), fmt::format("gid \"{}\": there is no such group here", raw_.gid));
    row.gid = gid.value_or(0);
  }

  std::vector<core::Capability> capabilities() {
    std::vector<core::Capability> list;
    for (const std::string& name : raw_.capabilities) {
      const auto known = std::ranges::find(core::capability_names, name);
      if (known == core::capability_names.end()) {
        require(false, fmt::format("unknown capability \"{}\"; allowed: {}", name,
                                   fmt::join(core::capability_names, ", ")));
        continue;
      }
      list.push_back(static_cast<core::Capability>(known - core::capability_names.begin()));
    }
    return list;
  }

  void read_scope(core::Principal& principal) {
    const std::array<std::pair<std::string_view, const std::vector<std::string>*>,
                     core::component_count>
        lists = {{{"tenants", &raw_.tenants},
                  {"programs", &raw_.programs},
                  {"target_namespaces", &raw_.target_namespaces},
                  {"targets", &raw_.targets},
                  {"actors", &raw_.actors},
                  {"workflows", &raw_.workflows},
                  {"operation_classes", &raw_.operation_classes}}};
    for (std::size_t i = 0; i < core::component_count; ++i) {
      for (const std::string& pattern : *lists[i].second) {
        check_pattern(static_cast<Component>(i), lists[i].first, pattern);
      }
      principal.scope[i] = *lists[i].second;
    }
  }

  /// A pattern that no normalized value can match would look like a right and be none.
  void check_pattern(Component component, std::string_view key, const std::string& pattern) {
    if (pattern == "*") return;
    const std::string stem =
        pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern;
    const bool keep_case =
        component == Component::target_id && !config_.identity.case_sensitive_namespaces.empty();
    const auto normal = normalized_component(component, stem, keep_case);
    if (!normal) {
      require(false,
              fmt::format("{}: \"{}\" is no normalized value, prefix written \"abc*\", or \"*\"",
                          key, pattern));
    } else if (*normal != stem) {
      require(false, fmt::format("{}: \"{}\" is compared with normalized values; write \"{}{}\"",
                                 key, pattern, *normal, pattern.ends_with('*') ? "*" : ""));
    }
  }

  const Principal& raw_;
  const Config& config_;
  Checks& checks_;
};

/// An earlier row that catches every peer of `row`: the first match wins.
bool hidden_by(const service::PrincipalRow& earlier, const service::PrincipalRow& row) {
  return earlier.uid == row.uid && (!earlier.gid || earlier.gid == row.gid);
}

}  // namespace

std::optional<std::string> normalized_component(core::Component component, const std::string& text,
                                                bool keep_case) {
  // An operation class has the same form as a workflow, but only a listed one passes normalize().
  if (component == core::Component::operation_class) component = core::Component::workflow_name;
  core::RawIdentity raw;
  raw.components.fill("x");
  raw.components[static_cast<std::size_t>(component)] = text;
  core::IdentityPolicy policy;
  policy.operation_classes = {"x"};
  if (keep_case) policy.case_sensitive_namespaces = {"x"};
  const auto identity = core::normalize(raw, policy);
  if (!identity) return std::nullopt;
  return identity->at(component);
}

std::vector<service::PrincipalRow> principal_rows(const Config& config, Checks& checks) {
  std::vector<service::PrincipalRow> rows;
  for (const Principal& raw : config.principals) {
    service::PrincipalRow row = Reader(raw, config, checks).read();
    for (const service::PrincipalRow& earlier : rows) {
      if (hidden_by(earlier, row)) {
        checks.fail_at(raw.origin,
                       fmt::format("principal \"{}\": \"{}\" before it already takes every "
                                   "process of this user",
                                   raw.id, earlier.principal.id.value));
      } else if (earlier.principal.id == row.principal.id) {
        checks.fail_at(raw.origin, fmt::format("principal \"{}\": the id is used twice", raw.id));
      }
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    checks.fail_at(
        {}, "no [[principal]]: nobody could use this daemon; add one with at least id and uid");
  }
  return rows;
}

}  // namespace starlease::config

// Assignment of raw entries; see the header.
#include "daemon/config/apply.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "daemon/config/key_table.hpp"

namespace starlease::config {
namespace {

constexpr std::string_view principal_prefix = "principal.";

template <class Target>
const Key<Target>* find(std::span<const Key<Target>> rows, std::string_view path) {
  const auto row = std::ranges::find(rows, path, [](const auto& key) { return key.path; });
  return row == rows.end() ? nullptr : &*row;
}

/// The keys beside a mistyped one, or the sections if there is no such section.
std::string allowed_beside(std::string_view path) {
  std::string names;
  const auto add = [&names](std::string_view name) {
    if (!names.empty()) names += ", ";
    names += name;
  };
  const std::string_view section = section_of(path);
  for (const auto& key : keys()) {
    if (section_of(key.path) == section)
      add(key.path.substr(section.empty() ? 0 : section.size() + 1));
  }
  if (!names.empty() && !section.empty()) return fmt::format("allowed in [{}]: {}", section, names);
  for (const Section& known : sections()) {
    if (!known.path.empty()) add(fmt::format("[{}]", known.path));
  }
  add("[[principal]]");
  return "allowed here: " + names;
}

class Applier {
 public:
  Config config = default_config();
  Problems problems;

  void apply(const RawEntry& entry) {
    if (entry.path == "principal" || entry.path.starts_with(principal_prefix)) {
      apply_to_principal(entry);
      return;
    }
    const auto* key = find(keys(), entry.path);
    if (key == nullptr) {
      problem(entry, fmt::format("unknown key {}; {}", entry.path, allowed_beside(entry.path)));
      return;
    }
    store(*key, key->field(config), entry);
    config.origins[entry.path] = entry.origin;
  }

 private:
  void problem(const RawEntry& entry, std::string message) {
    problems.push_back({entry.origin.place, std::move(message)});
  }

  void store(const KeyInfo& key, FieldRef field, const RawEntry& entry) {
    if (auto wrong = assign(key, field, entry.value)) problem(entry, std::move(*wrong));
  }

  /// The principal that "principal.<n>.…" means, made if it is the next one.
  Principal* principal_at(std::string_view& rest, const RawEntry& entry) {
    std::size_t index = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, index);
    if (error != std::errc{} || index > config.principals.size() || index >= max_principals ||
        (stop != end && *stop != '.')) {
      return nullptr;
    }
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    if (!rest.empty()) rest.remove_prefix(1);
    if (index == config.principals.size()) {
      config.principals.push_back(default_principal());
      config.principals.back().origin = entry.origin;
    }
    return &config.principals[index];
  }

  void apply_to_principal(const RawEntry& entry) {
    std::string_view rest = entry.path;
    rest.remove_prefix(std::min(rest.size(), principal_prefix.size()));
    Principal* principal = principal_at(rest, entry);
    if (principal == nullptr) {
      problem(entry,
              fmt::format("{} names no principal; write [[principal]] tables (at most {}), or "
                          "principal.<number>.<key> counted from 0 in --set",
                          entry.path, max_principals));
      return;
    }
    if (rest.empty()) return;  // an empty table: validate() says what it lacks
    const auto* key = find(principal_keys(), rest);
    if (key == nullptr) {
      std::string names;
      for (const auto& known : principal_keys()) names += fmt::format(" {}", known.path);
      problem(entry, fmt::format("unknown key {} of a principal; allowed:{}", rest, names));
      return;
    }
    store(*key, key->field(*principal), entry);
  }
};

}  // namespace

base::Result<Config, Problems> apply(const RawEntries& entries) {
  Applier applier;
  for (const RawEntry& entry : entries) {
    applier.apply(entry);
    if (applier.problems.size() == max_problems) break;
  }
  if (!applier.problems.empty()) return base::failed(std::move(applier.problems));
  return std::move(applier.config);
}

base::Result<RawEntry, Problems> parse_override(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return base::failed(Problems{{"--set", fmt::format("\"{}\" is not key=value", text)}});
  }
  const std::string path(text.substr(0, equals));
  return RawEntry{path, Untyped{std::string(text.substr(equals + 1))}, Origin{"--set " + path}};
}

}  // namespace starlease::config

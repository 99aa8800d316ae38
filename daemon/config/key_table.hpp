// The table of configuration keys as data, and the one function that assigns a value to a key. Made
// from keys.def and principal_keys.def; knows nothing of TOML.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/config/config.hpp"

namespace starlease::config {

enum class Kind : std::uint8_t {
  integer,
  flag,
  text,
  choice,
  list,
  mode,     ///< octal permissions, written as text
  account,  ///< a user or group: number or name
};

/// The field that a key fills.
using FieldRef = std::variant<std::int64_t*, bool*, std::string*, std::vector<std::string>*>;

struct KeyInfo {
  std::string_view path;
  Kind kind{};
  /// As in --set; parsed like any other value.
  std::string_view default_text;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::string_view unit;
  /// For Kind::choice: "a|b".
  std::string_view choices;
  std::string_view why;
};

template <class Target>
struct Key : KeyInfo {
  FieldRef (*field)(Target&);
};

struct Section {
  std::string_view path;
  std::string_view about;
};

[[nodiscard]] std::span<const Section> sections();
[[nodiscard]] std::span<const Key<Config>> keys();
[[nodiscard]] std::span<const Key<Principal>> principal_keys();
/// The section that a key stands in: its path up to the last dot.
[[nodiscard]] std::string_view section_of(std::string_view path);

/// Checks `value` against the key and stores it. Returns what is wrong and what is allowed, or
/// nothing.
[[nodiscard]] std::optional<std::string> assign(const KeyInfo& key, FieldRef field,
                                                const RawValue& value);

/// What a key accepts, for a person: "integer, 100 to 86400000 ms".
[[nodiscard]] std::string describe(const KeyInfo& key);

/// A configuration in which every key has its default, and no principals.
[[nodiscard]] Config default_config();
[[nodiscard]] Principal default_principal();

}  // namespace starlease::config

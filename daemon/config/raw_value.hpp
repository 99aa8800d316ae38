// What a configuration source says before it is matched with the table of keys: a path, a value and
// where it stands. TOML files, --set and --dev all come down to these.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/result.hpp"

namespace starlease::config {

/// A place that a person can go to: "FILE:LINE", "--set KEY" or "--dev".
struct Origin {
  std::string place;
};

/// One thing that is wrong: where, and what to do about it.
struct Problem {
  std::string place;
  std::string message;
  /// "PLACE: MESSAGE".
  [[nodiscard]] std::string text() const {
    return place.empty() ? message : place + ": " + message;
  }
};
/// All that is wrong, in the order found; never empty where it is an error.
using Problems = std::vector<Problem>;

/// Text whose type the key decides (--set, defaults): lists are separated by commas.
struct Untyped {
  std::string text;
};
/// A value of a type that no key has; `what` names it ("a date").
struct Unsupported {
  std::string what;
};
using RawValue =
    std::variant<std::int64_t, bool, std::string, std::vector<std::string>, Untyped, Unsupported>;

/// One assignment. Keys of the n-th [[principal]] have paths "principal.<n>.<key>", n from 0.
struct RawEntry {
  std::string path;
  RawValue value;
  Origin origin;
};
using RawEntries = std::vector<RawEntry>;

}  // namespace starlease::config

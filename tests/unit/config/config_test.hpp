// What the tests of the configuration share: a smallest file that is valid, and ways to load it.
#pragma once

#include <string>

#include "daemon/config/apply.hpp"
#include "daemon/config/toml_loader.hpp"
#include "daemon/config/validate.hpp"
#include "lib/base/crypto.hpp"

namespace starlease::test {

inline const std::string minimal =
    "[valkey]\n"
    "unix_path = \"/run/valkey.sock\"\n"
    "[[principal]]\n"
    "id = \"worker\"\n"
    "uid = 4711\n";

/// The checked configuration or the problems of `text`, as a file called "t.toml".
inline base::Result<config::ValidConfig, config::Problems> load_text(const std::string& text) {
  if (!base::crypto_start()) std::abort();
  const auto entries = config::parse_toml(text, "t.toml");
  if (!entries) return base::failed(entries.error());
  const auto config = config::apply(*entries);
  if (!config) return base::failed(config.error());
  return config::validate(*config);
}

/// The same with overrides "key=value".
inline base::Result<config::ValidConfig, config::Problems> load_text(
    const std::string& text, const std::vector<std::string>& overrides) {
  auto entries = config::parse_toml(text, "t.toml");
  if (!entries) return base::failed(entries.error());
  for (const std::string& one : overrides) {
    auto entry = config::parse_override(one);
    if (!entry) return base::failed(entry.error());
    entries->push_back(*entry);
  }
  const auto config = config::apply(*entries);
  if (!config) return base::failed(config.error());
  if (!base::crypto_start()) std::abort();
  return config::validate(*config);
}

/// All problems in one text, a line each; empty if there are none.
template <class T>
std::string problems(const base::Result<T, config::Problems>& result) {
  std::string text;
  if (!result) {
    for (const config::Problem& problem : result.error()) text += problem.text() + "\n";
  }
  return text;
}

inline bool has(const std::string& text, const std::string& part) {
  if (text.contains(part)) return true;
  std::fprintf(stderr, "missing: %s\nin: %s\n", part.c_str(), text.c_str());
  return false;
}

}  // namespace starlease::test

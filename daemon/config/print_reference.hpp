// docs/configuration.md and docs/starleased.example.toml from the table of keys, so that they
// cannot tell anything else than the loader does.
#pragma once

#include <string>

namespace starlease::config {

/// The reference of every key, as Markdown.
[[nodiscard]] std::string reference_markdown();
/// Every key commented out at its default, as TOML.
[[nodiscard]] std::string example_toml();

}  // namespace starlease::config

// Rules between keys, accounts, secrets: the step from Config to ValidConfig.
#pragma once

#include "daemon/config/valid_config.hpp"

namespace starlease::config {

/// Checks everything that one key's own range does not, resolves users and groups, reads the
/// secrets. Every problem names the key, its place, its value and what is allowed. REQUIRES:
/// base::crypto_start() has returned true.
[[nodiscard]] base::Result<ValidConfig, Problems> validate(const Config& config);

/// load_toml (unless `file` is empty), then `more` in order, then apply and validate.
[[nodiscard]] base::Result<ValidConfig, Problems> load(const std::string& file,
                                                       const RawEntries& more);

}  // namespace starlease::config

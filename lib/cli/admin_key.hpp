// An administrator's private key in a file of his own. The daemon never sees it.
#pragma once

#include <string>

#include <starlease/error.hpp>

#include "lib/base/signing.hpp"

namespace starlease::cli {

struct AdminKey {
  std::string id;
  base::SigningKey key;
};

/// Makes `path`, readable by its owner only. Errors: it is there already, or cannot be made.
[[nodiscard]] Result<AdminKey> make_admin_key(const std::string& path, const std::string& id);
/// Errors: it cannot be read, others can read it too, or it is no such file.
[[nodiscard]] Result<AdminKey> read_admin_key(const std::string& path);
/// The entry for administrators.keys in the daemon's configuration: id and public half.
[[nodiscard]] std::string public_entry(const AdminKey& key);

}  // namespace starlease::cli

// What --dev decides: the run directory, the configuration that needs no file, and how the private
// Valkey is started. Decides only; embedded_valkey runs the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/config/raw_value.hpp"
#include "daemon/options.hpp"

namespace starlease {

struct RunDir {
  /// Absolute; private to this user.
  std::string path;
  /// Made by us just now, or found empty: the namespace in it is new. design.md 5.
  bool fresh = false;
  /// Nobody named it, so nobody will look for it: it goes when we end.
  bool temporary = false;
};

/// Makes or checks the directory. Empty `wanted`: a new one under $XDG_RUNTIME_DIR or /tmp. Refused
/// with a sentence: one that is not ours alone, or whose sockets' paths would be too long.
[[nodiscard]] base::Result<RunDir, Farewell> prepare_run_dir(const std::string& wanted);

/// Sockets, backend, state and one principal, `uid`, that may do everything.
[[nodiscard]] config::RawEntries dev_entries(const std::string& run_dir, std::uint32_t uid);

/// Arguments of the private valkey-server: a Unix socket only, every write synced, nothing evicted.
[[nodiscard]] std::vector<std::string> dev_valkey_arguments(const std::string& run_dir);
[[nodiscard]] std::string dev_valkey_data(const std::string& run_dir);
[[nodiscard]] std::string dev_valkey_socket(const std::string& run_dir);

}  // namespace starlease

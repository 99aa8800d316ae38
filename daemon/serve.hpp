// One life of the daemon: seams, start, signals, drain, end.
#pragma once

#include <optional>
#include <string>

#include "daemon/config/valid_config.hpp"
#include "daemon/dev_mode.hpp"
#include "daemon/host.hpp"

namespace starlease {

/// What --dev adds.
struct DevServer {
  RunDir run_dir;
  std::string valkey_server;
};

/// Serves until a signal ends it. Prints the line "ready {JSON}" on standard output once every
/// partition serves. The error says why it could not begin or go on.
[[nodiscard]] base::Result<void, HostFailure> serve(const config::ValidConfig& config,
                                                    const std::optional<DevServer>& dev);

}  // namespace starlease

// --deploy-functions: one connection, one FUNCTION LOAD, one sentence. For a deployer's account.
#pragma once

#include <string>

#include "daemon/valkey/endpoint.hpp"
#include "lib/base/log.hpp"
#include "lib/base/result.hpp"

namespace starlease {

/// Connects to the server once and loads the function library that is built in. Returns what was
/// done, or what went wrong and what to change. Runs a loop of its own until then.
[[nodiscard]] base::Result<std::string, std::string> deploy_functions(
    const valkey::StoreConfig& config, base::Log& log);

}  // namespace starlease

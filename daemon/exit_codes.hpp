// What starleased's exit status means: sysexits' numbers, so that a unit file or a script can tell
// them apart. Documented in docs/operating.md and --help.
#pragma once

namespace starlease {

enum class ExitCode : int {
  ok = 0,
  usage = 64,             ///< the command line is wrong
  unavailable = 69,       ///< the embedded Valkey or a deployment to a server failed
  software = 70,          ///< no safe randomness, or the kernel refused what must not fail
  cannot_create = 73,     ///< a socket, state directory or audit file cannot be made
  another_instance = 75,  ///< another starleased has the socket, state or run directory
  configuration = 78,     ///< the configuration is wrong
};

}  // namespace starlease

// The command line of starleased as values.
#pragma once

#include <string>
#include <variant>

#include "daemon/config/raw_value.hpp"
#include "daemon/exit_codes.hpp"

namespace starlease {

enum class Action : std::uint8_t { run, check_config, print_reference, deploy_functions };

struct Options {
  Action action = Action::run;
  std::string config_file;
  /// --set, in order.
  config::RawEntries overrides;
  /// "md" or "toml", for Action::print_reference.
  std::string reference;
  bool dev = false;
  /// Empty: a fresh private one.
  std::string run_dir;
  /// Program that --dev starts.
  std::string valkey_server;
};

/// Nothing is to be run: say this and leave.
struct Farewell {
  ExitCode code = ExitCode::ok;
  /// To standard output for ExitCode::ok, to standard error otherwise.
  std::string text;
};

/// Parses the command line; --help, --version and mistakes are a Farewell.
[[nodiscard]] std::variant<Options, Farewell> parse_options(int argc, const char* const* argv);

}  // namespace starlease

// CLI11 lives here only; see the header.
#include "daemon/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "daemon/config/apply.hpp"
#include "daemon/version.hpp"

namespace starlease {
namespace {

constexpr const char* about =
    "starleased: the sidecar that holds, renews and loses leases for the workers of this host.";

constexpr const char* footer = R"(
Configuration: any key of docs/configuration.md as --set key=value (it wins over the file);
lists are separated by commas, "principal.0.uid=1000" means the first [[principal]].

--dev needs no configuration. In DIR it starts a valkey-server of its own, serves on
DIR/starleased.sock and DIR/admin.sock, and lets the calling user do everything. When it
serves it prints one line, "ready {JSON}". SIGTERM or its death takes all of it down.

Signals: SIGTERM and SIGINT drain (nothing new, leases released, workers told), then exit.

Exit status: 0 ended as asked; 64 wrong command line; 69 embedded Valkey or deployment
failed; 70 internal; 73 socket, state directory or audit file cannot be made; 75 another
starleased is there; 78 wrong configuration.)";

/// What CLI11 fills before it is made sense of.
struct Raw {
  Options options;
  bool check = false;
  bool deploy = false;
  std::vector<std::string> sets;
  std::string user;
  std::string password_file;
};

void declare(CLI::App& app, Raw& raw) {
  app.add_option("-c,--config", raw.options.config_file, "Configuration file (TOML)")
      ->type_name("FILE");
  app.add_option("--set", raw.sets, "Sets one configuration key; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--check-config", raw.check, "Check the configuration, then exit");
  app.add_option("--print-reference", raw.options.reference,
                 "Print the reference of all keys (md) or an example file (toml), then exit")
      ->type_name("md|toml")
      ->check(CLI::IsMember({"md", "toml"}));
  auto* dev =
      app.add_flag("--dev", raw.options.dev, "Serve with an embedded Valkey and no configuration");
  app.add_option("--run-dir", raw.options.run_dir,
                 "Directory of --dev (default: a fresh private one)")
      ->type_name("DIR")
      ->needs(dev);
  app.add_option("--valkey-server", raw.options.valkey_server, "Program that --dev starts")
      ->type_name("PROGRAM")
      ->default_val("valkey-server")
      ->needs(dev);
  auto* deploy = app.add_flag("--deploy-functions", raw.deploy,
                              "Load the function library into the configured Valkey, then exit");
  app.add_option("--user", raw.user, "User for --deploy-functions instead of valkey.user")
      ->type_name("NAME")
      ->needs(deploy);
  app.add_option("--password-file", raw.password_file, "File with that user's password")
      ->type_name("FILE")
      ->needs(deploy);
  app.set_version_flag("--version", std::string("starleased ") + version);
  app.footer(footer);
  app.get_formatter()->column_width(34);
}

Farewell mistake(const std::string& what) {
  return {ExitCode::usage, fmt::format("starleased: {}\nTry starleased --help.\n", what)};
}

/// A deployer's own account replaces the daemon's for this one connection.
void use_account(Raw& raw) {
  const auto set = [&raw](const char* key, const std::string& value) {
    raw.options.overrides.push_back({key, config::Untyped{value}, {"--deploy-functions"}});
  };
  if (!raw.user.empty()) set("valkey.user", raw.user);
  if (!raw.password_file.empty()) {
    set("valkey.password_file", raw.password_file);
    set("valkey.password_credential", "");
  }
}

std::variant<Options, Farewell> resolve(Raw raw) {
  Options& options = raw.options;
  const bool reference = !options.reference.empty();
  if (int(raw.check) + int(raw.deploy) + int(reference) > 1) {
    return mistake("--check-config, --deploy-functions and --print-reference exclude each other");
  }
  if (options.dev && (!options.config_file.empty() || raw.deploy || reference)) {
    return mistake("--dev goes with --run-dir, --valkey-server and --set only");
  }
  if (!options.dev && !reference && options.config_file.empty()) {
    return mistake("give --config FILE, or --dev");
  }
  for (const std::string& text : raw.sets) {
    auto entry = config::parse_override(text);
    if (!entry) return mistake(entry.error().front().text());
    options.overrides.push_back(std::move(*entry));
  }
  if (raw.check) options.action = Action::check_config;
  if (reference) options.action = Action::print_reference;
  if (raw.deploy) {
    options.action = Action::deploy_functions;
    use_account(raw);
  }
  return std::move(options);
}

}  // namespace

std::variant<Options, Farewell> parse_options(int argc, const char* const* argv) {
  CLI::App app(about, "starleased");
  Raw raw;
  declare(app, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Farewell{ExitCode::ok, app.help()};
  } catch (const CLI::CallForVersion& version_text) {
    return Farewell{ExitCode::ok, std::string(version_text.what()) + "\n"};
  } catch (const CLI::Error& error) {
    return mistake(error.what());
  }
  return resolve(std::move(raw));
}

}  // namespace starlease

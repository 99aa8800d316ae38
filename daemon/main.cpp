// starleased: command line, configuration, hardening, then one life of the daemon. Maps every
// failure to its exit status; decides nothing else.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "daemon/config/print_reference.hpp"
#include "daemon/config/validate.hpp"
#include "daemon/deploy_functions.hpp"
#include "daemon/hardening.hpp"
#include "daemon/options.hpp"
#include "daemon/real_settings.hpp"
#include "daemon/serve.hpp"
#include "daemon/uv/clock.hpp"
#include "lib/base/crypto.hpp"

namespace starlease {
namespace {

int leave(const Farewell& farewell) {
  std::fputs(farewell.text.c_str(), farewell.code == ExitCode::ok ? stdout : stderr);
  return static_cast<int>(farewell.code);
}

int leave(ExitCode code, const std::string& message) {
  return leave(Farewell{code, fmt::format("starleased: {}\n", message)});
}

int leave(const config::Problems& problems) {
  std::string text;
  for (const config::Problem& problem : problems)
    text += fmt::format("starleased: {}\n", problem.text());
  return leave(Farewell{ExitCode::configuration, text});
}

/// The configuration file or what --dev stands for, then --set.
base::Result<config::ValidConfig, config::Problems> load(const Options& options,
                                                         const std::string& run_dir) {
  config::RawEntries entries;
  if (options.dev) entries = dev_entries(run_dir, ::geteuid());
  entries.insert(entries.end(), options.overrides.begin(), options.overrides.end());
  return config::load(options.config_file, entries);
}

int check_config(const Options& options) {
  const auto config = load(options, "/run/starleased-dev");
  if (!config) return leave(config.error());
  return leave(Farewell{ExitCode::ok, "the configuration is valid\n"});
}

int deploy(const Options& options) {
  const auto config = load(options, "");
  if (!config) return leave(config.error());
  const uv::SystemClock clock;
  log::SpdlogLog log(log_options(config->log), clock);
  const auto deployed = deploy_functions(store_config(config->valkey), log);
  if (!deployed) return leave(ExitCode::unavailable, deployed.error());
  return leave(Farewell{ExitCode::ok, *deployed + "\n"});
}

int serve_with(const Options& options, const std::optional<DevServer>& dev) {
  const auto config = load(options, dev ? dev->run_dir.path : "");
  if (!config) return leave(config.error());
  const auto served = serve(*config, dev);
  return served ? 0 : leave(served.error().code, served.error().message);
}

int run(const Options& options) {
  if (!options.dev) return serve_with(options, std::nullopt);
  auto run_dir = prepare_run_dir(options.run_dir);
  if (!run_dir) return leave(run_dir.error());
  const int status = serve_with(options, DevServer{*run_dir, options.valkey_server});
  std::error_code ignored;  // what is left of a temporary directory harms nobody
  if (run_dir->temporary) std::filesystem::remove_all(run_dir->path, ignored);
  return status;
}

int print_reference(const Options& options) {
  return leave(Farewell{ExitCode::ok, options.reference == "md" ? config::reference_markdown()
                                                                : config::example_toml()});
}

int act(const Options& options) {
  switch (options.action) {
    case Action::check_config:
      return check_config(options);
    case Action::print_reference:
      return print_reference(options);
    case Action::deploy_functions:
      return deploy(options);
    case Action::run:
      return run(options);
  }
  return static_cast<int>(ExitCode::software);
}

}  // namespace
}  // namespace starlease

int main(int argc, char** argv) {
  using namespace starlease;
  const auto parsed = parse_options(argc, argv);
  if (const auto* farewell = std::get_if<Farewell>(&parsed)) return leave(*farewell);
  // Before anything secret is read.
  if (auto hardened = harden(); !hardened) return leave(ExitCode::software, hardened.error());
  if (!base::crypto_start()) return leave(ExitCode::software, "no safe source of random numbers");
  return act(std::get<Options>(parsed));
}

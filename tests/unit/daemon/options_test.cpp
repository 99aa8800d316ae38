// The command line: what it comes to, and that each mistake is refused with a way on.
#include <doctest/doctest.h>

#include <vector>

#include "daemon/options.hpp"
#include "daemon/version.hpp"

using namespace starlease;

namespace {

std::variant<Options, Farewell> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "starleased");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

Options options(std::vector<const char*> arguments) {
  auto parsed = parse(std::move(arguments));
  REQUIRE(std::holds_alternative<Options>(parsed));
  return std::get<Options>(parsed);
}

Farewell farewell(std::vector<const char*> arguments) {
  auto parsed = parse(std::move(arguments));
  REQUIRE(std::holds_alternative<Farewell>(parsed));
  return std::get<Farewell>(parsed);
}

bool mistaken(std::vector<const char*> arguments, const char* part) {
  const Farewell left = farewell(std::move(arguments));
  INFO(left.text);
  CHECK(left.code == ExitCode::usage);
  CHECK(left.text.contains("--help"));
  return left.text.contains(part);
}

}  // namespace

TEST_CASE("the ways to run") {
  const Options run =
      options({"--config", "/etc/s.toml", "--set", "log.level=debug", "--set", "a.b=c,d=e"});
  CHECK(run.action == Action::run);
  CHECK(run.config_file == "/etc/s.toml");
  CHECK_FALSE(run.dev);
  REQUIRE(run.overrides.size() == 2);
  CHECK(run.overrides[1].path == "a.b");
  CHECK(std::get<config::Untyped>(run.overrides[1].value).text == "c,d=e");
  CHECK(options({"-c", "x", "--check-config"}).action == Action::check_config);
  CHECK(options({"--print-reference", "toml"}).reference == "toml");
  CHECK(options({"--print-reference", "md"}).action == Action::print_reference);
}

TEST_CASE("the development mode") {
  const Options dev = options({"--dev"});
  CHECK(dev.dev);
  CHECK(dev.run_dir.empty());
  CHECK(dev.valkey_server == "valkey-server");
  const Options placed =
      options({"--dev", "--run-dir", "/tmp/x", "--valkey-server", "/opt/v", "--set", "a=1"});
  CHECK(placed.run_dir == "/tmp/x");
  CHECK(placed.valkey_server == "/opt/v");
  CHECK(options({"--dev", "--check-config"}).action == Action::check_config);
}

TEST_CASE("deployment uses the deployer's own account") {
  const Options plain = options({"-c", "x", "--deploy-functions"});
  CHECK(plain.action == Action::deploy_functions);
  CHECK(plain.overrides.empty());
  const Options own =
      options({"-c", "x", "--deploy-functions", "--user", "deployer", "--password-file", "/p"});
  REQUIRE(own.overrides.size() == 3);
  CHECK(own.overrides[0].path == "valkey.user");
  CHECK(own.overrides[1].path == "valkey.password_file");
  CHECK(own.overrides[2].path == "valkey.password_credential");
}

TEST_CASE("help and version say it on standard output") {
  const Farewell help = farewell({"--help"});
  CHECK(help.code == ExitCode::ok);
  for (const char* word : {"--config", "--check-config", "--dev", "--run-dir", "--set", "--version",
                           "--deploy-functions", "--print-reference", "--valkey-server", "--user",
                           "--password-file", "SIGTERM", "64", "69", "70", "73", "75", "78"}) {
    CHECK_MESSAGE(help.text.contains(word), word);
  }
  const Farewell told = farewell({"--version"});
  CHECK(told.code == ExitCode::ok);
  CHECK(told.text == std::string("starleased ") + version + "\n");
}

TEST_CASE("mistakes are refused with the status of a wrong command line") {
  CHECK(mistaken({}, "give --config FILE, or --dev"));
  CHECK(mistaken({"--check-config"}, "give --config FILE, or --dev"));
  CHECK(mistaken({"--nonsense"}, "--nonsense"));
  CHECK(mistaken({"stray"}, "stray"));
  CHECK(mistaken({"--config"}, "--config"));
  CHECK(mistaken({"-c", "x", "--set", "novalue"}, "is not key=value"));
  CHECK(mistaken({"-c", "x", "--dev"}, "--dev goes with"));
  CHECK(mistaken({"-c", "x", "--run-dir", "/tmp/x"}, "--dev"));
  CHECK(mistaken({"-c", "x", "--user", "u"}, "--deploy-functions"));
  CHECK(mistaken({"--print-reference", "pdf"}, "pdf"));
  CHECK(mistaken({"-c", "x", "--check-config", "--deploy-functions"}, "exclude each other"));
}

// The command line of starlease: what each form means, and which mistakes it tells.
#include "lib/cli/arguments.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

using namespace starlease;
using namespace starlease::cli;
using namespace std::chrono_literals;

namespace {

std::variant<Invocation, Farewell> parse(std::initializer_list<const char*> words) {
  std::vector<const char*> argv = {"starlease"};
  argv.insert(argv.end(), words);
  return parse_arguments(static_cast<int>(argv.size()), argv.data());
}

Invocation parsed(std::initializer_list<const char*> words) {
  auto result = parse(words);
  if (const auto* farewell = std::get_if<Farewell>(&result)) FAIL(farewell->text);
  return std::get<Invocation>(std::move(result));
}

Farewell refused(std::initializer_list<const char*> words) {
  auto result = parse(words);
  REQUIRE(std::holds_alternative<Farewell>(result));
  return std::get<Farewell>(std::move(result));
}

constexpr const char* lock = "t/p/n/x/a";

}  // namespace

TEST_CASE("run takes its options before and its command behind the dashes") {
  const auto call = parsed({"run", lock, "--ttl", "1500ms", "--wait", "2s", "--", "sh", "--json"});
  const auto& run = std::get<RunArguments>(call.command);
  CHECK(run.options.identity.target_id == "x");
  CHECK(run.options.ttl == 1500ms);
  CHECK(run.options.wait == 2000ms);
  CHECK(run.command == std::vector<std::string>{"sh", "--json"});
  CHECK_FALSE(call.common.json);
}

TEST_CASE("common options stand before or behind the command") {
  for (const auto& call : {parsed({"--json", "--socket", "/s", "inspect", lock}),
                           parsed({"inspect", lock, "--json", "--socket", "/s"}),
                           parsed({"--json", "inspect", "--socket", "/s", lock})}) {
    CHECK(call.common.json);
    CHECK(call.common.socket == "/s");
    CHECK(std::get<InspectArguments>(call.command).identity->actor_name == "a");
  }
  CHECK(parsed({"admin", "namespace", "status", "--json"}).common.json);
}

TEST_CASE("an identity is one word or its parts as options") {
  const auto call = parsed({"acquire", "--tenant", "t", "--program", "p", "--namespace", "n",
                            "--target", "x", "--actor", "a", "--workflow", "w"});
  const Identity& identity = std::get<AcquireArguments>(call.command).options.identity;
  CHECK(identity.target_namespace == "n");
  CHECK(identity.workflow_name == "w");
  CHECK(refused({"acquire", lock, "--tenant", "t"}).text.find("not both") != std::string::npos);
  CHECK(refused({"acquire", "--tenant", "t"}).text.find("--program is missing") !=
        std::string::npos);
  CHECK(refused({"acquire", "t/p"}).text.find("tenant/program/") != std::string::npos);
}

TEST_CASE("mistakes are usage errors that name what is wrong") {
  const auto told = [](std::initializer_list<const char*> words, const char* word) {
    const Farewell farewell = refused(words);
    CHECK(farewell.code == ExitCode::usage);
    CHECK_MESSAGE(farewell.text.find(word) != std::string::npos, farewell.text);
  };
  told({}, "A subcommand is required");
  told({"fly"}, "there is no command \"fly\"; see starlease --help");
  told({"fly", "--help"}, "there is no command \"fly\"");
  told({"admin", "fly"}, "there is no command \"fly\"; see starlease admin --help");
  told({"run", lock, "echo"}, "stands behind \"--\"");
  told({"acquire"}, "IDENTITY: is missing");
  told({"--timeout", "0", "ping"}, "must be more than 0");
  told({"renew", "--lease-id", "l", "--token", "1"}, "STARLEASE_INSTANCE");
  told({"admin", "deploy"}, "FILE is missing");
  told({"acquire", lock, "--ttl", "soon"}, "1ms to 366 days");
  told({"run", lock}, "CMD");
  told({"run", lock, "--"}, "CMD");
  told({"ping", "--", "x"}, "--");
  told({"release", "--lease-id", "l"}, "--token");
  told({"--instance", "i", "ping"}, "--resume");
  told({"inspect", lock, "--lease-id", "l"}, "not both");
  told({"resolve", lock, "--request-id", "r", "--operation", "inspect"}, "operation");
}

TEST_CASE("help names the whole command once and is no mistake") {
  const Farewell help = refused({"admin", "namespace", "init", "--help"});
  CHECK(help.code == ExitCode::ok);
  CHECK(help.text.find("Usage: starlease admin namespace init") != std::string::npos);
  CHECK(refused({"--help"}).text.find("Usage: starlease [OPTIONS] SUBCOMMAND") !=
        std::string::npos);
}

TEST_CASE("admin deploy hands on what it does not know") {
  const auto call = parsed({"admin", "deploy", "--config", "/f", "--user", "deployer"});
  CHECK(std::get<DeployArguments>(call.command).arguments ==
        std::vector<std::string>{"--config", "/f", "--user", "deployer"});
}

TEST_CASE("list takes what its --by compares, and nothing else") {
  const auto own = std::get<ListArguments>(parsed({"list"}).command);
  CHECK(own.filter.by == ListBy::owner);
  CHECK(own.filter.owner_principal_id.empty());
  CHECK_FALSE(own.limit);
  const auto target =
      std::get<ListArguments>(parsed({"list", "--by", "target", "--tenant", "t", "--program", "p",
                                      "--namespace", "n", "--target", "x", "--limit", "5"})
                                  .command);
  CHECK(target.filter.by == ListBy::target);
  CHECK(target.filter.target_id == "x");
  CHECK(target.limit == 5);
  CHECK(refused({"list", "--by", "program", "--tenant", "t"}).code == ExitCode::usage);
  CHECK(refused({"list", "--tenant", "t"}).code == ExitCode::usage);
  CHECK(refused({"list", "--by", "program", "--tenant", "t", "--program", "p", "--owner", "o"})
            .code == ExitCode::usage);
  CHECK(refused({"history"}).code == ExitCode::usage);
  CHECK(std::get<HistoryArguments>(parsed({"history", lock}).command).identity.target_id == "x");
}

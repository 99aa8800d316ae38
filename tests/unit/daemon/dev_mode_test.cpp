// What --dev decides: a private run directory, a configuration that is valid as it is, and a Valkey
// that is suitable.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "daemon/config/apply.hpp"
#include "daemon/config/validate.hpp"
#include "daemon/dev_mode.hpp"
#include "lib/base/crypto.hpp"
#include "tests/support/scratch.hpp"

using namespace starlease;

TEST_CASE("a run directory is made private, and is new only the first time") {
  const test::Scratch scratch;
  const auto made = prepare_run_dir(scratch.path("run"));
  REQUIRE(made);
  CHECK(made->fresh);
  CHECK_FALSE(made->temporary);
  struct stat status{};
  REQUIRE(::stat(made->path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0700);
  const auto empty = prepare_run_dir(scratch.path("run"));
  REQUIRE(empty);
  CHECK(empty->fresh);
  scratch.write("run/x", "");
  const auto used = prepare_run_dir(scratch.path("run") + "/");
  REQUIRE(used);
  CHECK_FALSE(used->fresh);
}

TEST_CASE("without a name it is a fresh one that goes again") {
  const test::Scratch scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
  const auto made = prepare_run_dir("");
  ::setenv("XDG_RUNTIME_DIR", "/no/such/place", 1);
  const auto fallback = prepare_run_dir("");
  ::unsetenv("XDG_RUNTIME_DIR");
  REQUIRE(made);
  CHECK(made->path.starts_with(scratch.path() + "/starleased-"));
  CHECK(made->fresh);
  CHECK(made->temporary);
  REQUIRE(fallback);
  CHECK(fallback->path.starts_with("/tmp/starleased-"));
  std::filesystem::remove(fallback->path);
}

TEST_CASE("a directory that is not ours alone is refused") {
  const test::Scratch scratch;
  REQUIRE(::mkdir(scratch.path("loose").c_str(), 0700) == 0);
  REQUIRE(::chmod(scratch.path("loose").c_str(), 0777) == 0);
  const auto loose = prepare_run_dir(scratch.path("loose"));
  REQUIRE_FALSE(loose);
  CHECK(loose.error().code == ExitCode::cannot_create);
  CHECK(loose.error().text.contains("nobody else can write to"));
  CHECK_FALSE(prepare_run_dir(scratch.write("file", "x")).has_value());
  CHECK_FALSE(prepare_run_dir(scratch.path("a/b/c")).has_value());
}

TEST_CASE(
    "paths of 107 bytes fit, longer ones are refused with their length before anything is made") {
  const test::Scratch scratch;
  const std::size_t room = 107 - std::string("/starleased.sock").size() - scratch.path().size() - 1;
  CHECK(prepare_run_dir(scratch.path(std::string(room, 'd'))).has_value());
  const auto refused = prepare_run_dir(scratch.path(std::string(room + 1, 'd')));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ExitCode::usage);
  CHECK(refused.error().text.contains("is 108 bytes long; a socket's path has at most 107"));
  CHECK_FALSE(std::filesystem::exists(scratch.path(std::string(room + 1, 'd'))));
}

TEST_CASE("the configuration of --dev is valid, and its user may do everything") {
  REQUIRE(base::crypto_start());
  const auto config = config::apply(dev_entries("/run/x", 4711));
  REQUIRE(config);
  const auto valid = config::validate(*config);
  REQUIRE(valid);
  CHECK(valid->socket.path == "/run/x/starleased.sock");
  CHECK(valid->admin_socket.path == "/run/x/admin.sock");
  CHECK(valid->valkey.unix_path == "/run/x/valkey.sock");
  CHECK(valid->valkey.load_functions);
  REQUIRE(valid->principals.size() == 1);
  CHECK(valid->principals[0].uid == 4711);
  const auto& principal = valid->principals[0].principal;
  for (std::size_t i = 0; i < core::capability_names.size(); ++i) {
    CHECK(core::has_capability(principal, static_cast<core::Capability>(i)));
  }
  CHECK(core::in_scope(principal, core::LockIdentity{{"a", "b", "c", "d", "e", "f", "g"}}));
}

TEST_CASE("its Valkey listens nowhere else, syncs every write and evicts nothing") {
  const auto arguments = dev_valkey_arguments("/run/x");
  const auto value = [&arguments](const char* name) {
    const auto found = std::ranges::find(arguments, name);
    return found == arguments.end() ? std::string("(none)") : *(found + 1);
  };
  CHECK(value("--port") == "0");
  CHECK(value("--unixsocket") == "/run/x/valkey.sock");
  CHECK(value("--appendonly") == "yes");
  CHECK(value("--appendfsync") == "always");
  CHECK(value("--maxmemory-policy") == "noeviction");
  CHECK(value("--save") == "");
  CHECK(value("--dir") == "/run/x/valkey");
}

// Files and --set: what is read, and that each mistake is refused with its file, line and what is
// allowed.
#include <doctest/doctest.h>

#include "daemon/config/key_table.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/config/config_test.hpp"

using namespace starlease;
using test::has;
using test::load_text;
using test::minimal;
using test::problems;

TEST_CASE("the smallest file loads, and what it does not say has its default") {
  const auto valid = load_text(minimal);
  REQUIRE(problems(valid) == "");
  CHECK(valid->socket.path == "/run/starlease/starleased.sock");
  CHECK(valid->socket.mode == 0660);
  CHECK(valid->admin_socket.mode == 0600);
  CHECK(valid->ipc.max_frame_bytes == 262144);
  CHECK(valid->valkey.unix_path == "/run/valkey.sock");
  CHECK(valid->principals.at(0).uid == 4711);
  CHECK(valid->principals.at(0).principal.id.value == "worker");
  CHECK(valid->principals.at(0).principal.capabilities.empty());
}

TEST_CASE("the defaults of the table are those of the domain") {
  const auto valid = load_text(minimal);
  REQUIRE(valid);
  const core::LeasePolicy policy;
  const service::Settings settings;
  const auto& s = valid->service;
  CHECK(s.policy.minimum_ttl == policy.minimum_ttl);
  CHECK(s.policy.maximum_ttl == policy.maximum_ttl);
  CHECK(s.policy.default_ttl == policy.default_ttl);
  CHECK(s.policy.maximum_lifetime == policy.maximum_lifetime);
  CHECK(s.policy.maximum_wait == policy.maximum_wait);
  CHECK(s.policy.default_timeout == policy.default_timeout);
  CHECK(s.policy.maximum_timeout == policy.maximum_timeout);
  CHECK(s.policy.safety_margin == policy.safety_margin);
  CHECK(s.policy.retry_window == policy.retry_window);
  CHECK(s.policy.drift_ppm == policy.drift_ppm);
  CHECK(s.identities.operation_classes == settings.identities.operation_classes);
  CHECK(s.identities.case_sensitive_namespaces.empty());
  CHECK(s.recovery.on_restart == settings.recovery.on_restart);
  CHECK(s.recovery.grace == settings.recovery.grace);
  CHECK(s.recovery.clock_tolerance == settings.recovery.clock_tolerance);
  CHECK_FALSE(s.recovery.init_namespace);
  CHECK(s.admission.max_sessions == settings.admission.max_sessions);
  CHECK(s.admission.max_leases == settings.admission.max_leases);
  CHECK(s.admission.max_leases_per_session == settings.admission.max_leases_per_session);
  CHECK(s.admission.max_waiters == settings.admission.max_waiters);
  CHECK(s.admission.max_waiters_per_lock == settings.admission.max_waiters_per_lock);
  CHECK(s.max_frame_bytes == settings.max_frame_bytes);
  CHECK(s.renewal_tick == settings.renewal_tick);
}

TEST_CASE("an unknown key names its line and its neighbours") {
  const auto text = problems(load_text(minimal + "[policy]\nmax_ttl_ms = 5\n"));
  CHECK(has(text, "t.toml:7: unknown key policy.max_ttl_ms"));
  CHECK(has(text, "maximum_ttl_ms"));
  CHECK(
      has(problems(load_text("[polices]\nx = 1\n" + minimal)), "t.toml:2: unknown key polices.x"));
  CHECK(has(problems(load_text("[polices]\nx = 1\n" + minimal)), "[policy]"));
  CHECK(has(problems(load_text("verbose = true\n" + minimal)), "state_directory"));
  CHECK(has(problems(load_text(minimal + "shell = \"x\"\n")),
            "t.toml:6: unknown key shell of a principal"));
}

TEST_CASE("every integer key refuses what is just out of its range and takes its ends") {
  for (const auto& key : config::keys()) {
    if (key.kind != config::Kind::integer) continue;
    CAPTURE(std::string(key.path));
    auto config = config::default_config();
    CHECK_FALSE(config::assign(key, key.field(config), key.low));
    CHECK(*std::get<std::int64_t*>(key.field(config)) == key.low);
    CHECK_FALSE(config::assign(key, key.field(config), key.high));
    const auto below = config::assign(key, key.field(config), key.low - 1);
    REQUIRE(below);
    CHECK(has(*below, std::string(key.path)));
    CHECK(has(*below, std::to_string(key.low)));
    CHECK(config::assign(key, key.field(config), key.high + 1));
    CHECK(*std::get<std::int64_t*>(key.field(config)) == key.high);
  }
}

TEST_CASE("every key refuses values of another type, with its line") {
  const config::Unsupported date{"a date or time"};
  for (const auto& key : config::keys()) {
    CAPTURE(std::string(key.path));
    auto config = config::default_config();
    CHECK(config::assign(key, key.field(config), date));
    const bool textual = key.kind == config::Kind::text;
    const bool list = key.kind == config::Kind::list;
    CHECK(config::assign(key, key.field(config), std::string("no such thing")).has_value() ==
          !textual);
    CHECK(config::assign(key, key.field(config), std::vector<std::string>{"x"}).has_value() ==
          !list);
    CHECK(config::assign(key, key.field(config), true).has_value() ==
          (key.kind != config::Kind::flag));
  }
  const auto text = problems(
      load_text("[policy]\nminimum_ttl_ms = 1.5\n[ipc]\nmax_in_flight = \"9\"\n" + minimal));
  CHECK(has(text,
            "t.toml:2: policy.minimum_ttl_ms is a number with a fraction; allowed: integer, 100"));
  CHECK(has(text, "t.toml:4: ipc.max_in_flight is \"9\""));
}

TEST_CASE("broken files are refused with their line") {
  CHECK(has(problems(load_text("[policy\n")), "t.toml:1: "));
  CHECK(has(problems(load_text(minimal + "\nid = \"twice\"\n")), "t.toml:7: "));
  CHECK(has(problems(load_text(minimal + "x = \"\xff\"\n")), "t.toml:6: "));
  CHECK(has(problems(load_text(minimal + "capabilities = [\"targets:read\", 1]\n")),
            "t.toml:6: capabilities is a list of other things than text"));
  const std::string deep(5000, '[');
  CHECK(has(problems(load_text("a = " + deep)), "t.toml:1: "));
}

TEST_CASE("--set wins over the file, takes every kind, and its mistakes are told as such") {
  auto valid = load_text(
      minimal, {"policy.maximum_ttl_ms=70000", "policy.maximum_ttl_ms=80000", "socket.mode=0600",
                "valkey.load_functions=true", "identity.operation_classes=default,scan",
                "principal.0.capabilities=targets:read,targets:lease", "principal.0.targets=",
                "principal.1.id=second", "principal.1.uid=4712", "log.format=json"});
  REQUIRE(problems(valid) == "");
  CHECK(valid->service.policy.maximum_ttl == core::Milliseconds(80000));
  CHECK(valid->socket.mode == 0600);
  CHECK(valid->valkey.load_functions);
  CHECK(valid->service.identities.operation_classes == std::vector<std::string>{"default", "scan"});
  CHECK(valid->principals.at(0).principal.capabilities.size() == 2);
  CHECK(valid->principals.at(1).uid == 4712);
  CHECK(valid->log.format == config::LogFormat::json);

  CHECK(has(problems(load_text(minimal, {"log.format=xml"})),
            "--set log.format: log.format is \"xml\"; allowed: \"text\" or \"json\""));
  CHECK(has(problems(load_text(minimal, {"log"})), "--set: \"log\" is not key=value"));
  CHECK(has(problems(load_text(minimal, {"=1"})), "is not key=value"));
  CHECK(has(problems(load_text(minimal, {"nothing=1"})), "--set nothing: unknown key nothing"));
  CHECK(has(problems(load_text(minimal, {"principal.7.id=x"})), "names no principal"));
  CHECK(has(problems(load_text(minimal, {"principal.x.id=x"})), "names no principal"));
  CHECK(has(problems(load_text(minimal, {"policy.minimum_ttl_ms="})),
            "policy.minimum_ttl_ms is \"\""));
  CHECK(has(problems(load_text(minimal, {"policy.minimum_ttl_ms=0x200"})), "allowed: integer"));
}

TEST_CASE("a file that is missing, no regular file or too large is refused by name") {
  const test::Scratch scratch;
  CHECK(has(problems(config::load(scratch.path("none.toml"), {})), "none.toml: cannot be read"));
  CHECK(
      has(problems(config::load(scratch.path(), {})), scratch.path() + ": is not a regular file"));
  const std::string big = scratch.write("big.toml", std::string(config::max_file_bytes + 1, '#'));
  CHECK(has(problems(config::load(big, {})), "is larger than 1048576 bytes"));
  const std::string fifo = scratch.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(has(problems(config::load(fifo, {})), "is not a regular file"));
}

TEST_CASE("at most twenty problems are told") {
  std::string text = minimal;
  for (int i = 0; i < 100; ++i) text += "x" + std::to_string(i) + " = 1\n";
  const auto result = load_text(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().size() == config::max_problems);
}

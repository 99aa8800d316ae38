// Rules between keys, principals and secrets: each refusal names the key, its place and what is
// allowed.
#include <doctest/doctest.h>

#include <unistd.h>

#include "daemon/config/secrets.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/config/config_test.hpp"

using namespace starlease;
using test::has;
using test::load_text;
using test::minimal;
using test::problems;

namespace {

std::string refused(const std::vector<std::string>& overrides) {
  return problems(load_text(minimal, overrides));
}

}  // namespace

TEST_CASE("policy: minimum <= default <= maximum, both inclusive") {
  CHECK(refused({"policy.minimum_ttl_ms=2000", "policy.default_ttl_ms=2000",
                 "policy.maximum_ttl_ms=2000"}) == "");
  CHECK(has(
      refused({"policy.default_ttl_ms=999"}),
      "--set policy.default_ttl_ms: policy.default_ttl_ms is 999; allowed: policy.minimum_ttl_ms "
      "(1000) to policy.maximum_ttl_ms (60000)"));
  CHECK(has(refused({"policy.default_ttl_ms=60001"}), "policy.default_ttl_ms is 60001"));
  CHECK(has(refused({"policy.minimum_ttl_ms=60001"}), "default: policy.maximum_ttl_ms is 60000"));
}

TEST_CASE("policy: lifetime, timeouts, wait and margin fit each other") {
  CHECK(has(refused({"policy.maximum_lifetime_ms=999"}), "at least policy.minimum_ttl_ms (1000)"));
  CHECK(has(refused({"policy.default_timeout_ms=120001"}),
            "at most policy.maximum_timeout_ms (120000)"));
  CHECK(has(refused({"policy.maximum_wait_ms=120001"}), "policy.maximum_wait_ms is 120001"));
  CHECK(
      has(refused({"policy.safety_margin_ms=12001"}), "at most a fifth of policy.maximum_ttl_ms"));
  CHECK(refused({"policy.safety_margin_ms=12000"}) == "");
}

TEST_CASE("sockets: absolute, whole, and two of them") {
  const std::string fits = "/" + std::string(106, 's');
  CHECK(refused({"socket.path=" + fits}) == "");
  CHECK(has(refused({"socket.path=" + fits + "x"}),
            "socket.path is 108 bytes long; a socket's path has at most 107"));
  CHECK(has(refused({"admin_socket.path=" + fits + "xyz"}), "admin_socket.path is 110 bytes long"));
  CHECK(has(refused({"valkey.unix_path=" + fits + "x"}), "valkey.unix_path is 108 bytes long"));
  CHECK(has(refused({"socket.path=run/a.sock"}), "allowed: an absolute path"));
  CHECK(has(refused({"socket.path=/a", "admin_socket.path=/a"}), "is the same as socket.path"));
  CHECK(has(refused({"socket.group=no-such-group-here"}), "there is no such group here"));
  CHECK(has(refused({"socket.mode=0999"}), "octal permissions"));
  CHECK(has(refused({"socket.mode=7777"}), "octal permissions"));
  CHECK(has(refused({"state_directory=var"}), "allowed: an absolute path"));
}

TEST_CASE("ipc: two frames fit the outbound bound") {
  CHECK(has(refused({"ipc.max_frame_bytes=1048576"}),
            "at least twice ipc.max_frame_bytes (1048576)"));
}

TEST_CASE("valkey: one address, TLS off the host, names and back-off") {
  CHECK(has(refused({"valkey.host=db"}), "must be given, and not both"));
  CHECK(has(refused({"valkey.unix_path="}), "must be given, and not both"));
  CHECK(
      has(refused({"valkey.unix_path=", "valkey.host=db"}), "valkey.host is reached without TLS"));
  CHECK(refused({"valkey.unix_path=", "valkey.host=db", "valkey.allow_plaintext=true"}) == "");
  CHECK(has(refused({"valkey.tls.enabled=true"}),
            "valkey.tls.enabled is true; allowed: only with valkey.host"));
  CHECK(has(refused({"valkey.reconnect_min_ms=3000"}), "at most valkey.reconnect_max_ms (2000)"));
  for (const char* bad : {"", "A", "a{b", "-a", ".a", "a b", "a:b"}) {
    CHECK(
        has(refused({std::string("valkey.namespace=") + bad}), "allowed: 1 to 64 of [a-z0-9._-]"));
  }
  CHECK(refused({"valkey.namespace=prod-1.eu"}) == "");
}

TEST_CASE("valkey: the certificate's name is the host unless another is given") {
  const auto tls =
      load_text(minimal, {"valkey.unix_path=", "valkey.host=db", "valkey.tls.enabled=true"});
  REQUIRE(problems(tls) == "");
  CHECK(tls->valkey.tls->server_name == "db");
  const auto named =
      load_text(minimal, {"valkey.unix_path=", "valkey.host=10.0.0.1", "valkey.tls.enabled=true",
                          "valkey.tls.server_name=db.example"});
  REQUIRE(named);
  CHECK(named->valkey.tls->server_name == "db.example");
}

TEST_CASE("valkey: TLS files must be there, and the key private") {
  const test::Scratch scratch;
  const std::string loose = scratch.write("key.pem", "k", 0644);
  const std::vector<std::string> base = {"valkey.unix_path=", "valkey.host=db",
                                         "valkey.tls.enabled=true"};
  auto with = [&base](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return refused(more);
  };
  CHECK(has(with({"valkey.tls.ca_file=" + scratch.path("none")}), "valkey.tls.ca_file is"));
  CHECK(has(with({"valkey.tls.key_file=" + loose, "valkey.tls.cert_file=" + loose}),
            "has mode 0644"));
  CHECK(has(with({"valkey.tls.cert_file=" + loose}), "go together"));
}

TEST_CASE("secrets: from private files of one line, and never in a message") {
  const test::Scratch scratch;
  const std::string good = scratch.write("password", "s3cret\n", 0600);
  const auto valid = load_text(minimal, {"valkey.user=starleased", "valkey.password_file=" + good});
  REQUIRE(problems(valid) == "");
  CHECK(valid->valkey.password_path == good);
  CHECK(config::read_secret(good)->reveal() == "s3cret");

  const auto refuse = [&](const std::string& text, mode_t mode) {
    const std::string file = scratch.write("bad", text, mode);
    const std::string told = refused({"valkey.password_file=" + file});
    CHECK(has(told, "--set valkey.password_file: valkey.password_file is unusable: " + file));
    CHECK_FALSE(told.contains("s3cret"));
    return told;
  };
  CHECK(has(refuse("s3cret", 0644), "has mode 0644; others must not read it"));
  CHECK(has(refuse("s3cret", 0660), "has mode 0660"));
  CHECK(has(refuse("", 0600), "is empty"));
  CHECK(has(refuse("\n", 0600), "is empty"));
  CHECK(has(refuse("s3cret\nmore\n", 0600), "must hold one line"));
  CHECK(has(refuse(std::string("s3cret\0x", 8), 0600), "must hold one line"));
  CHECK(has(refuse(std::string(600, 'x'), 0600), "is larger than"));
  CHECK(has(refused({"valkey.password_file=" + scratch.path("none")}), "cannot be read"));
  CHECK(has(refused({"valkey.user=starleased"}), "is set without a password"));
}

TEST_CASE("secrets: from a systemd credential by name only") {
  const test::Scratch scratch;
  scratch.write("valkey-password", "from-systemd", 0400);
  ::setenv("CREDENTIALS_DIRECTORY", scratch.path().c_str(), 1);
  const auto valid = load_text(minimal, {"valkey.password_credential=valkey-password"});
  CHECK(has(refused({"valkey.password_credential=../x"}), "is not a credential's name"));
  CHECK(has(refused({"valkey.password_credential=.."}), "is not a credential's name"));
  CHECK(has(refused({"valkey.password_credential=none"}), "cannot be read"));
  CHECK(has(refused({"valkey.password_credential=valkey-password", "valkey.password_file=/x"}),
            "are both set"));
  ::unsetenv("CREDENTIALS_DIRECTORY");
  REQUIRE(problems(valid) == "");
  CHECK(config::read_secret(valid->valkey.password_path)->reveal() == "from-systemd");
  CHECK(has(refused({"valkey.password_credential=valkey-password"}), "LoadCredential="));
}

TEST_CASE("principals: accounts by number and name, capabilities by name") {
  const auto valid =
      load_text(minimal, {"principal.0.uid=root", "principal.0.gid=root",
                          "principal.0.capabilities=targets:force-release,namespace:admin",
                          "principal.0.class=operator"});
  REQUIRE(problems(valid) == "");
  const auto& row = valid->principals.at(0);
  CHECK(row.uid == 0);
  CHECK(row.gid == 0U);
  CHECK(row.principal.credential.value == "uid-0");
  CHECK(row.principal.client.value == "worker");
  CHECK(row.principal.principal_class == "operator");
  CHECK(core::has_capability(row.principal, core::Capability::targets_force_release));
  CHECK(core::has_capability(row.principal, core::Capability::namespace_admin));
  CHECK_FALSE(core::has_capability(row.principal, core::Capability::targets_lease));

  CHECK(has(refused({"principal.0.uid=no-such-user-here"}), "there is no such user here"));
  CHECK(has(refused({"principal.0.uid=4294967295"}), "there is no such user here"));
  CHECK(has(refused({"principal.0.uid="}), "uid is missing"));
  CHECK(has(refused({"principal.0.uid=-1"}), "there is no such user here"));
  CHECK(has(refused({"principal.0.capabilities=targets:write"}),
            "unknown capability \"targets:write\"; allowed: targets:read"));
  CHECK(has(refused({"principal.0.id=a b"}), "id must be 1 to 128"));
  CHECK(has(refused({"principal.0.id="}), "id must be 1 to 128"));
}

TEST_CASE("principals: nothing is allowed that was not written") {
  const auto valid =
      load_text(minimal, {"principal.0.tenants=tenant-main,x-*", "principal.0.targets=*"});
  REQUIRE(problems(valid) == "");
  const auto& scope = valid->principals.at(0).principal.scope;
  CHECK(scope[0] == core::ScopeList{"tenant-main", "x-*"});
  CHECK(scope[3] == core::ScopeList{"*"});
  CHECK(scope[1].empty());
  core::LockIdentity identity{{"tenant-main", "p", "n", "t", "a", "default", "default"}};
  CHECK_FALSE(core::in_scope(valid->principals.at(0).principal, identity));
}

TEST_CASE("principals: scopes that could never match are refused") {
  CHECK(has(refused({"principal.0.tenants=Tenant-Main"}), "write \"tenant-main\""));
  CHECK(has(refused({"principal.0.tenants=Te*"}), "write \"te*\""));
  CHECK(has(refused({"principal.0.tenants=a/b"}), "is no normalized value"));
  CHECK(has(refused({"principal.0.tenants=**"}), "is no normalized value"));
  CHECK(has(refused({"principal.0.tenants=a*b"}), "is no normalized value"));
  CHECK(has(refused({"principal.0.targets=Ab"}), "write \"ab\""));
  CHECK(refused({"principal.0.targets=Ab", "identity.case_sensitive_namespaces=files"}) == "");
  CHECK(has(refused({"principal.0.operation_classes=A"}), "write \"a\""));
}

TEST_CASE("principals: at least one, each reachable, ids once") {
  CHECK(has(problems(load_text("[valkey]\nunix_path = \"/v\"\n")), "no [[principal]]"));
  CHECK(has(refused({"principal.1.id=b", "principal.1.uid=4711"}), "already takes every process"));
  CHECK(refused({"principal.0.gid=5", "principal.1.id=b", "principal.1.uid=4711"}) == "");
  CHECK(has(refused({"principal.1.id=worker", "principal.1.uid=4712"}), "the id is used twice"));
  CHECK(has(problems(load_text(minimal + "[[principal]]\n")),
            "t.toml:6: principal \"\": id must be"));
}

TEST_CASE("identity: closed lists are normalized and sane") {
  const auto valid = load_text(minimal, {"identity.operation_classes=Default,SCAN",
                                         "identity.case_sensitive_namespaces=Files"});
  REQUIRE(problems(valid) == "");
  CHECK(valid->service.identities.operation_classes == std::vector<std::string>{"default", "scan"});
  CHECK(valid->service.identities.case_sensitive_namespaces == std::vector<std::string>{"files"});
  CHECK(
      has(refused({"identity.operation_classes=a/b"}), "identity.operation_classes holds \"a/b\""));
  CHECK(has(refused({"identity.operation_classes="}), "is empty"));
}

TEST_CASE("audit and recovery are typed") {
  const auto valid =
      load_text(minimal, {"audit.target=/var/log/a.jsonl", "recovery.on_restart=trust-durable",
                          "recovery.grace=none", "log.level=error", "log.target=journald"});
  REQUIRE(problems(valid) == "");
  CHECK(valid->audit.target == config::AuditTarget::file);
  CHECK(valid->audit.file == "/var/log/a.jsonl");
  CHECK(valid->service.recovery.on_restart == service::OnRestart::trust_durable);
  CHECK(valid->service.recovery.grace == store::RecoveryGrace::none);
  CHECK(valid->log.level == base::LogLevel::error);
  CHECK(valid->log.target == config::LogTarget::journald);
  CHECK(has(refused({"audit.target=audit.log"}), "audit.target is \"audit.log\"; allowed"));
}

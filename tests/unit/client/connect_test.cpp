// Finding the daemon and greeting it.
#include <cstdlib>

#include "lib/client/socket_path.hpp"
#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {
namespace {

Error failure_of(const ClientOptions& options) {
  auto client = Client::connect(options);
  REQUIRE(!client.ok());
  return client.error();
}

}  // namespace

TEST_CASE("a path that does not fit is refused with its length") {
  ClientOptions options;
  options.socket_path = "/tmp/" + std::string(103, 'x');
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::no_daemon);
  CHECK(error.field == "socket");
  CHECK(error.message.find("108 bytes") != std::string::npos);
  CHECK(!client::socket_address(options.socket_path + "a").ok());
  CHECK(!client::socket_address(options.socket_path + "b").ok());
  CHECK(!client::socket_address("").ok());
  CHECK(!client::socket_address(std::string("/tmp/a\0b", 8)).ok());
}

TEST_CASE("a path of 107 bytes fits") {
  const std::string path = "/tmp/" + std::string(102, 'x');
  REQUIRE(path.size() == client::socket_path_bytes);
  CHECK(client::socket_address(path).ok());
  ClientOptions options;
  options.socket_path = path;
  CHECK(failure_of(options).message.find("No such file") != std::string::npos);
}

TEST_CASE("the path is the argument, or STARLEASE_SOCKET, or the default") {
  ::setenv("STARLEASE_SOCKET", "/from/variable", 1);
  CHECK(client::choose_socket_path("/given", "STARLEASE_SOCKET", "/default") == "/given");
  CHECK(client::choose_socket_path("", "STARLEASE_SOCKET", "/default") == "/from/variable");
  ::unsetenv("STARLEASE_SOCKET");
  CHECK(client::choose_socket_path("", "STARLEASE_SOCKET", "/default") == "/default");
}

TEST_CASE("connect tells the session") {
  ScriptedDaemon daemon({[](Peer& peer) {
    const auto hello = peer.greet();
    CHECK(hello.protocol == 1);
    CHECK(hello.client == "worker/7");
    CHECK(hello.notify_renewed);
    CHECK(!hello.notify_backend);
    CHECK(hello.instance.empty());
    peer.await_close();
  }});
  ClientOptions options;
  options.name = "worker/7";
  const Client client = connected(daemon, options);
  CHECK(client.connected());
  CHECK(client.session().server == "starleased/test");
  CHECK(client.session().service_instance_id == "instance_1");
  CHECK(client.session().resume == "resume_1");
  CHECK(client.session().maximum_ttl == 60s);
}

TEST_CASE("connect presents the session that it is to take over") {
  ScriptedDaemon daemon({[](Peer& peer) {
    const auto hello = peer.greet();
    CHECK(hello.instance.value == "instance_7");
    CHECK(hello.resume == "secret");
    CHECK(hello.credential == "bearer");
    CHECK(hello.notify_backend);
    peer.await_close();
  }});
  ClientOptions options;
  options.service_instance_id = "instance_7";
  options.resume = "secret";
  options.credential = "bearer";
  options.watch_backend = true;
  CHECK(connected(daemon, options).session().service_instance_id == "instance_7");
}

TEST_CASE("a refused greeting is the daemon's refusal") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.expect<core::HelloCall>();
    peer.refuse(core::FailureCode::invalid_credential);
  }});
  ClientOptions options;
  options.socket_path = daemon.path();
  const Error error = failure_of(options);
  CHECK(error.code == ErrorCode::invalid_credential);
  CHECK(error.correlation_id == "corr_1");
  CHECK(!error.retryable());
}

TEST_CASE("a daemon that does not greet costs the timeout, not more") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.await_close(); }});
  ClientOptions options;
  options.socket_path = daemon.path();
  options.connect_timeout = 100ms;
  const auto before = client::boot_now();
  CHECK(failure_of(options).code == ErrorCode::no_daemon);
  CHECK(client::boot_now() - before >= 100ms);
  CHECK(client::boot_now() - before < 2s);
}

TEST_CASE("a daemon that hangs up at the greeting is no daemon") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.expect<core::HelloCall>(); }});
  ClientOptions options;
  options.socket_path = daemon.path();
  CHECK(failure_of(options).code == ErrorCode::no_daemon);
}

TEST_CASE("something that does not speak the protocol is told as that") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.expect<core::HelloCall>();
    peer.raw("{\"hello\":1}");
  }});
  ClientOptions options;
  options.socket_path = daemon.path();
  CHECK(failure_of(options).code == ErrorCode::protocol_violation);
}

}  // namespace starlease::testing

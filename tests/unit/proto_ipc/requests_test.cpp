// Requests: every member reaches its place in the call, defaults are the contract's, results own
// what they hold.
#include <doctest/doctest.h>

#include "proto-ipc/request_decoder.hpp"
#include "proto-ipc/request_encoder.hpp"
#include "tests/unit/proto_ipc/vectors.hpp"

namespace ipc = starlease::ipc;
namespace core = starlease::core;
using core::Milliseconds;

namespace {

ipc::DecodedRequest decode(std::string_view payload, bool admin = false) {
  ipc::RequestDecoder decoder;
  return decoder.decode(payload, admin);
}

template <class Call>
Call call_of(std::string_view payload, bool admin = false) {
  auto decoded = decode(payload, admin);
  REQUIRE(std::holds_alternative<ipc::Request>(decoded));
  return std::get<Call>(std::get<ipc::Request>(std::move(decoded)).call);
}

template <class Call>
Call golden(const std::string& name) {
  return call_of<Call>(starlease::ipc_test::read_vector("requests/" + name + ".v1.json"));
}

std::string refused_field(std::string_view payload, bool admin = false) {
  const auto decoded = decode(payload, admin);
  const auto* refused = std::get_if<ipc::RefusedRequest>(&decoded);
  return refused == nullptr ? "" : refused->failure.field;
}

/// An acquire with more members.
std::string acquire_with(const std::string& members) {
  return R"({"id":1,"op":"acquire","identity":{},"request_id":"r",)" + members + "}";
}

}  // namespace

TEST_CASE("requests: hello") {
  const auto plain = golden<core::HelloCall>("hello");
  CHECK(plain.protocol == 1);
  CHECK(plain.client == "worker/1.2");
  CHECK(plain.credential == "");
  CHECK(plain.instance.empty());
  CHECK(plain.resume == "");
  CHECK_FALSE(plain.notify_renewed);
  CHECK_FALSE(plain.notify_backend);
  const auto full = golden<core::HelloCall>("hello_full");
  CHECK(full.credential == "bearer-text");
  CHECK(full.instance.value == "instance_01k1q2w3e4r5t6y7v8b9n0m1c4");
  CHECK(full.resume == "b3BhcXVl");
  CHECK(full.notify_renewed);
  CHECK(full.notify_backend);
  const std::string head = R"({"id":1,"op":"hello","client":"c","protocol":)";
  CHECK(call_of<core::HelloCall>(head + "99}").protocol == 99);
  CHECK(call_of<core::HelloCall>(head + "-1}").protocol == -1);
  const auto one = call_of<core::HelloCall>(head + R"(1,"notify":["backend"]})");
  CHECK_FALSE(one.notify_renewed);
  CHECK(one.notify_backend);
  CHECK_FALSE(call_of<core::HelloCall>(head + R"(1,"notify":[]})").notify_backend);
}

TEST_CASE("requests: acquire with nothing optional has the contract's defaults") {
  const auto call = golden<core::AcquireCall>("acquire");
  CHECK(call.identity.components[0] == "tenant-main");
  CHECK(call.identity.components[1] == "program-a");
  CHECK(call.identity.components[2] == "domain");
  CHECK(call.identity.components[3] == "example.org");
  CHECK(call.identity.components[4] == "subfinder");
  CHECK_FALSE(call.identity.components[5]);
  CHECK_FALSE(call.identity.components[6]);
  CHECK(call.request_id.value == "request_01k1q2w3e4r5t6y7v8b9n0m1c3");
  CHECK_FALSE(call.deadline.at);
  CHECK_FALSE(call.deadline.timeout);
  CHECK_FALSE(call.ttl);
  CHECK_FALSE(call.maximum_lifetime);
  CHECK(call.wait == Milliseconds(0));
  CHECK(call.heartbeat == Milliseconds(0));
  CHECK(call.work == core::WorkIds{});
  CHECK(call.metadata == "{}");
  CHECK(call.renew == core::RenewMode::automatic);
  CHECK(call.on_disconnect == core::OnDisconnect::release);
}

TEST_CASE("requests: acquire with everything") {
  const auto call = golden<core::AcquireCall>("acquire_full");
  CHECK(call.identity.components[5] == "nightly");
  CHECK(call.identity.components[6] == "default");
  CHECK(call.deadline.at == core::WallTime(Milliseconds(1785931205000)));
  CHECK(call.ttl == Milliseconds(30000));
  CHECK(call.maximum_lifetime == Milliseconds(300000));
  CHECK(call.wait == Milliseconds(1500));
  CHECK(call.heartbeat == Milliseconds(10000));
  CHECK(call.work.execution.value == "execution_01");
  CHECK(call.work.job.value == "job_01");
  CHECK(call.work.trace.value == "trace_01");
  CHECK(call.metadata ==
        R"({"host":"wörker \"7\"","cpu":4,"load":1.50,"tags":["a","b"],"nested":{"x":{"y":[]}},)"
        R"("none":null,"ok":true})");
  CHECK(call.renew == core::RenewMode::manual);
  CHECK(call.on_disconnect == core::OnDisconnect::keep);
}

TEST_CASE("requests: renew, release, inspect, resolve") {
  const auto renew = golden<core::RenewCall>("renew_full");
  CHECK(renew.lease_id.value.starts_with("lease_01k1"));
  CHECK(renew.token.value == 1785931200000001);
  CHECK(renew.request_id.value == "request_2");
  CHECK(renew.deadline.timeout == Milliseconds(2000));
  CHECK(renew.ttl == Milliseconds(20000));
  CHECK_FALSE(golden<core::RenewCall>("renew").ttl);
  const auto release = golden<core::ReleaseCall>("release");
  CHECK(release.request_id.value == "request_3");
  CHECK(release.token.value == 1785931200000001);
  const auto by_identity = golden<core::InspectCall>("inspect_identity");
  CHECK(by_identity.identity->components[3] == "example.org");
  CHECK_FALSE(by_identity.lease_id);
  const auto by_id = golden<core::InspectCall>("inspect_lease_id");
  CHECK_FALSE(by_id.identity);
  CHECK(by_id.lease_id->value.starts_with("lease_01k1"));
  const auto resolve = golden<core::ResolveCall>("resolve_renew");
  CHECK(resolve.operation == core::Operation::renew);
  CHECK(resolve.identity.components[4] == "subfinder");
}

TEST_CASE("requests: members may stand in any order, with any white space and escapes") {
  const auto call = call_of<core::ReleaseCall>(
      "\n{ \"fencing_token\" :\t5 ,\"request_id\":\"\\u0072\" , \"lease_id\":\"l\\/1\",\r\n"
      "\"o\\u0070\":\"release\",\"id\":\"\"} ");
  CHECK(call.token.value == 5);
  CHECK(call.request_id.value == "r");
  CHECK(call.lease_id.value == "l/1");
}

TEST_CASE("requests: the bounds themselves are allowed") {
  const std::string id(64, 'i');
  auto decoded = decode(R"({"op":"ping","id":")" + id + "\"}");
  CHECK(std::get<ipc::Request>(decoded).id == ipc::RequestId(id));
  decoded = decode(R"({"op":"ping","id":-9223372036854775808})");
  CHECK(std::get<ipc::Request>(decoded).id == ipc::RequestId(INT64_MIN));
  const std::string release = R"({"id":1,"op":"release","lease_id":")" + std::string(128, 'l') +
                              R"(","request_id":")" + std::string(128, 'r') +
                              R"(","fencing_token":9007199254740991})";
  CHECK(call_of<core::ReleaseCall>(release).token.value == 9007199254740991);
  CHECK(call_of<core::ReleaseCall>(
            R"({"id":1,"op":"release","lease_id":"l","fencing_token":1,"request_id":"aZ09._:-"})")
            .request_id.value == "aZ09._:-");
  const auto call = call_of<core::AcquireCall>(acquire_with(
      R"("ttl_ms":1,"maximum_lifetime_ms":1,"wait_ms":0,"heartbeat_ms":0,"timeout_ms":0)"));
  CHECK(call.ttl == Milliseconds(1));
  CHECK(call.deadline.timeout == Milliseconds(0));
}

TEST_CASE("requests: durations beyond all use mean the longest one") {
  const auto call = call_of<core::AcquireCall>(
      acquire_with(R"("ttl_ms":9223372036854775807,"timeout_ms":9000000000000000)"));
  CHECK(call.ttl == Milliseconds(ipc::longest_duration_ms));
  CHECK(call.deadline.timeout == Milliseconds(ipc::longest_duration_ms));
  // Sums with any time of the next centuries stay in range.
  const auto sum = core::Nanoseconds(std::int64_t{1} << 62) + core::Nanoseconds(*call.ttl);
  CHECK(sum > core::Nanoseconds(std::int64_t{1} << 62));
}

TEST_CASE("requests: metadata up to its bounds is passed through compactly") {
  const std::string value(4096 - 8, 'x');
  const auto largest =
      call_of<core::AcquireCall>(acquire_with(R"("metadata":{"a":")" + value + "\"}"));
  CHECK(largest.metadata.size() == 4096);
  std::string keys;
  for (int i = 0; i < 64; ++i) keys += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  CHECK(call_of<core::AcquireCall>(acquire_with("\"metadata\":{" + keys + "}")).metadata ==
        "{" + keys + "}");
  CHECK(
      call_of<core::AcquireCall>(acquire_with(R"("metadata":{"a":{"b":{"c":[ 1 ]}}})")).metadata ==
      R"({"a":{"b":{"c":[1]}}})");
  // White space does not count: what is kept is what is bounded.
  const std::string spaces(5000, ' ');
  CHECK(call_of<core::AcquireCall>(acquire_with("\"metadata\":{" + spaces + "\"a\":1}")).metadata ==
        R"({"a":1})");
  // Escapes that get longer do.
  std::string controls;
  for (int i = 0; i < 1000; ++i) controls += "\\n";
  CHECK(refused_field(acquire_with(R"("metadata":{"a":")" + controls + "\"}")) == "metadata");
}

TEST_CASE("requests: the first unknown field is named, cut to what can be told") {
  CHECK(refused_field(R"({"id":1,"op":"ping","x":1,"y":2})") == "x");
  const std::string name = std::string(63, 'n') + "\u00e9" + std::string(100, 'n');
  CHECK(refused_field(R"({"id":1,"op":"ping",")" + name + "\":1}") == std::string(63, 'n'));
}

TEST_CASE("requests: a pipelined request does not change the one before") {
  ipc::RequestDecoder decoder;
  const auto acquire = [&decoder](const std::string& id, const std::string& target) {
    return decoder.decode(R"({"id":")" + id + R"(","op":"acquire","request_id":"r-)" + id +
                              R"(","identity":{"target_id":")" + target +
                              R"("},"metadata":{"k":")" + target + "\"}}",
                          false);
  };
  const auto first = acquire("first", "one-with-a-longer-name-than-the-second");
  const auto second = acquire("second", "two");
  REQUIRE(
      std::holds_alternative<ipc::FrameError>(decoder.decode("{\"id\":\"xxxxxxxxxxxxxxx", false)));
  const auto& request = std::get<ipc::Request>(first);
  const auto& call = std::get<core::AcquireCall>(request.call);
  CHECK(request.id == ipc::RequestId("first"));
  CHECK(call.request_id.value == "r-first");
  CHECK(call.identity.components[3] == "one-with-a-longer-name-than-the-second");
  CHECK(call.metadata == R"({"k":"one-with-a-longer-name-than-the-second"})");
  CHECK(std::get<ipc::Request>(second).id == ipc::RequestId("second"));
}

TEST_CASE("requests: the socket decides which operations there are") {
  for (const char* op : {"ping", "goodbye"}) {
    const std::string payload = R"({"id":1,"op":")" + std::string(op) + "\"}";
    CHECK(std::holds_alternative<ipc::Request>(decode(payload, false)));
    CHECK(std::holds_alternative<ipc::Request>(decode(payload, true)));
  }
  const auto decoded = decode(R"({"id":1,"op":"lend"})");
  CHECK(
      std::get<ipc::RefusedRequest>(decoded).failure.message ==
      "Send one of the operations of this socket: hello acquire renew release inspect resolve ping "
      "goodbye commit document list history");
  const auto admin = decode(R"({"id":1,"op":"lend"})", true);
  CHECK(std::get<ipc::RefusedRequest>(admin).failure.message ==
        "Send one of the operations of this socket: hello inspect resolve ping goodbye namespace "
        "stats document list history");
}

TEST_CASE("requests: encoding leaves out what has its default") {
  core::AcquireCall call;
  call.request_id = core::RequestId("r");
  CHECK(ipc::encode_request(5, call) ==
        R"({"id":5,"op":"acquire","identity":{},"request_id":"r"})");
  CHECK(ipc::encode_request(ipc::RequestId("a\"b"), core::PingCall{}) ==
        R"({"id":"a\"b","op":"ping"})");
}

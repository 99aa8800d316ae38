// Events on the client's side.
#include <doctest/doctest.h>

#include "proto-ipc/event_encoder.hpp"
#include "proto-ipc/reply_decoder.hpp"
#include "tests/unit/proto_ipc/vectors.hpp"

namespace ipc = starlease::ipc;
namespace core = starlease::core;
using core::Milliseconds;

namespace {

template <class Event>
Event event_of(const std::string& name) {
  const auto message =
      ipc::decode_message(starlease::ipc_test::read_vector("events/" + name + ".v1.json"));
  REQUIRE(message);
  return std::get<Event>(std::get<core::Event>(*message));
}

}  // namespace

TEST_CASE("events: lease_lost") {
  const auto event = event_of<core::LeaseLost>("lease_lost_recovered");
  CHECK(event.lease_id.value.starts_with("lease_01k1"));
  CHECK(event.token.value == 1785931200000001);
  CHECK(event.identity.at(core::Component::actor_name) == "subfinder");
  CHECK(event.reason == core::LossReason::recovered);
  CHECK(event.state == core::LeaseState::revoked);
  CHECK(event.detected_at == core::WallTime(Milliseconds(1785931249750)));
  CHECK(event.valid_for == Milliseconds(250));
  const auto late = event_of<core::LeaseLost>("lease_lost_heartbeat_missed");
  CHECK_FALSE(late.state);
  CHECK(late.valid_for == Milliseconds(-3));
}

TEST_CASE("events: the others") {
  CHECK(event_of<core::LeaseExpiring>("lease_expiring").remaining == Milliseconds(60000));
  const auto renewed = event_of<core::LeaseRenewedNotice>("lease_renewed");
  CHECK(renewed.expires_at == core::backend_time(1785931260000));
  CHECK(renewed.valid_for == Milliseconds(29938));
  CHECK(renewed.valid_until == core::BootTime(core::Nanoseconds(123456789012345)));
  CHECK(event_of<core::BackendStateChanged>("backend_state_unavailable").state ==
        core::BackendState::unavailable);
  CHECK(event_of<core::Draining>("draining_restart").restart);
  CHECK_FALSE(event_of<core::Draining>("draining").restart);
  CHECK(event_of<core::ProtocolError>("protocol_error").message == "The payload is not valid JSON");
}

TEST_CASE("events: an unknown kind is told as such, a broken one is not understood") {
  const auto unknown = ipc::decode_message(R"({"event":"lease_moved","to":1})");
  REQUIRE(unknown);
  CHECK(std::get<ipc::UnknownEvent>(*unknown).name == "lease_moved");
  CHECK_FALSE(ipc::decode_message(R"({"event":"draining"})"));
  CHECK_FALSE(ipc::decode_message(R"({"event":5})"));
  CHECK_FALSE(ipc::decode_message(R"({"event":"backend_state","state":"tired"})"));
  CHECK(ipc::decode_message(R"({"event":"draining","restart":true,"in_ms":5})"));
}

TEST_CASE("events: text of others is escaped") {
  CHECK(ipc::encode_event(core::ProtocolError{"a \"b\"\n"}) ==
        R"({"event":"protocol_error","code":"invalid_frame","msg":"a \"b\"\n"})");
}

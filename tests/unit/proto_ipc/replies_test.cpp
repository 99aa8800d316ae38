// Answers on the client's side: every member reaches its place, unknown members are passed over,
// the closed sets stay closed.
#include <doctest/doctest.h>

#include "proto-ipc/reply_decoder.hpp"
#include "proto-ipc/response_encoder.hpp"
#include "tests/unit/proto_ipc/vectors.hpp"

namespace ipc = starlease::ipc;
namespace core = starlease::core;
using core::Milliseconds;

namespace {

std::string text_of(const std::string& name) {
  std::string text = starlease::ipc_test::read_vector("answers/" + name + ".v1.json");
  text.pop_back();
  return text;
}

ipc::Reply reply_of(std::string_view payload) {
  auto message = ipc::decode_message(payload);
  REQUIRE(message);
  REQUIRE(std::holds_alternative<ipc::Reply>(*message));
  return std::get<ipc::Reply>(std::move(*message));
}

template <class Answer>
Answer answer_of(const std::string& name) {
  auto reply = reply_of(text_of(name));
  REQUIRE(reply.outcome);
  return std::get<Answer>(std::move(*reply.outcome));
}

core::Failure failure_of(const std::string& name) {
  const auto reply = reply_of(text_of(name));
  REQUIRE_FALSE(reply.outcome);
  return reply.outcome.error();
}

std::string misunderstood(std::string_view payload) {
  const auto message = ipc::decode_message(payload);
  return message ? "" : message.error().message;
}

/// `text` with the first `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

core::BackendTime at(std::int64_t seconds) {
  return core::backend_time(1785931200000 + 1000 * seconds);
}

}  // namespace

TEST_CASE("replies: id and correlation") {
  const auto reply = reply_of(text_of("lease_acquired_replayed"));
  CHECK(reply.id == ipc::RequestId("a-2"));
  CHECK(reply.correlation.value == "corr_01k1q2w3e4r5t6y7v8b9n0m1c5");
  CHECK(reply_of(text_of("pong")).id == ipc::RequestId(std::int64_t{-10}));
  CHECK(reply_of(text_of("error_without_id")).id == ipc::RequestId());
}

TEST_CASE("replies: hello") {
  const auto answer = answer_of<core::HelloAnswer>("hello");
  CHECK(answer.server == "starleased/0.1.0");
  CHECK(answer.owner.principal.value == "prn_worker");
  CHECK(answer.owner.client.value == "client_worker");
  CHECK(answer.owner.credential.value == "key_worker");
  CHECK(answer.owner.instance.value == "instance_01k1q2w3e4r5t6y7v8b9n0m1c4");
  CHECK(answer.resume == "b3BhcXVl");
  CHECK(answer.limits.max_frame_bytes == 262144);
  CHECK(answer.limits.minimum_ttl == Milliseconds(1000));
  CHECK(answer.limits.maximum_ttl == Milliseconds(60000));
  CHECK(answer.limits.default_ttl == Milliseconds(30000));
  CHECK(answer.limits.maximum_lifetime == Milliseconds(300000));
  CHECK(answer.limits.maximum_wait == Milliseconds(60001));
  CHECK(answer.limits.max_leases == 1000);
  CHECK(answer.backend == core::BackendState::recovering);
}

TEST_CASE("replies: grants") {
  const auto answer = answer_of<core::GrantAnswer>("lease_acquired");
  CHECK_FALSE(answer.renewed);
  CHECK(answer.identity.at(core::Component::tenant_id) == "tenant-main");
  CHECK(answer.identity.at(core::Component::workflow_name) == "nightly");
  CHECK(answer.grant.lease_id.value.starts_with("lease_01k1"));
  CHECK(answer.grant.token.value == 1785931200000001);
  CHECK(answer.grant.acquired_at == at(0));
  CHECK(answer.grant.renewed_at == at(20));
  CHECK(answer.grant.expires_at == at(50));
  CHECK(answer.grant.ttl == Milliseconds(30000));
  CHECK(answer.state == core::LeaseState::active);
  CHECK(answer.envelope.lock_key.starts_with("starintel:target-lease:v1:"));
  CHECK(answer.envelope.lease_id == answer.grant.lease_id);
  CHECK(answer.envelope.token == answer.grant.token);
  CHECK(answer.envelope.expires_at == at(50));
  CHECK(answer.envelope.execution.value == "execution_01");
  CHECK(answer.envelope.trace.empty());
  CHECK(answer.valid_for == Milliseconds(29938));
  CHECK(answer.valid_until == core::BootTime(core::Nanoseconds(123456789012345)));
  CHECK_FALSE(answer.replay);
  CHECK(answer_of<core::GrantAnswer>("lease_renewed").renewed);
  CHECK(answer_of<core::GrantAnswer>("lease_acquired_replayed").replay->current_state ==
        core::LeaseState::revoked);
}

TEST_CASE("replies: released, inspected, resolved") {
  const auto released = answer_of<core::ReleasedAnswer>("lease_released");
  CHECK(released.token.value == 1785931200000001);
  CHECK(released.released_at == core::backend_time(1785931225123));
  CHECK_FALSE(released.replay);
  const auto inspected = answer_of<core::InspectedAnswer>("lease_inspected_terminal");
  CHECK(inspected.state == core::LeaseState::revoked);
  CHECK(inspected.ended_at == at(31));
  CHECK(inspected.end_reason == "recovered");
  CHECK_FALSE(answer_of<core::InspectedAnswer>("lease_inspected_active").ended_at);
  const auto none = answer_of<core::ResolvedAnswer>("lease_resolved_not_found");
  CHECK_FALSE(none.committed);
  CHECK_FALSE(none.result);
  const auto grant = answer_of<core::ResolvedAnswer>("lease_resolved_acquire");
  CHECK(grant.committed);
  CHECK(std::get<core::GrantAnswer>(*grant.result).grant.expires_at == at(50));
  CHECK(grant.current_state == core::LeaseState::expired);
  const auto refused = answer_of<core::ResolvedAnswer>("lease_resolved_refused");
  CHECK(std::get<core::Failure>(*refused.result).code == core::FailureCode::lease_conflict);
  CHECK(std::get<core::Failure>(*refused.result).replayed);
}

TEST_CASE("replies: pong, namespace, stats") {
  const auto pong = answer_of<core::PongAnswer>("pong");
  CHECK(pong.backend == core::BackendState::ready);
  CHECK(pong.boot_now == core::BootTime(core::Nanoseconds(123456000000000)));
  const auto answer = answer_of<core::NamespaceAnswer>("namespace");
  CHECK(answer.namespace_name == "main");
  REQUIRE(answer.partitions.size() == 2);
  CHECK(answer.partitions[1].partition == 1);
  CHECK(answer.partitions[1].state == "closed");
  CHECK(answer.partitions[1].epoch.value == 1785931200000002);
  CHECK(answer.partitions[1].token_floor.value == 1785931200000003);
  CHECK(answer.partitions[0].sequence == 77);
  const auto stats = answer_of<core::StatsAnswer>("stats");
  CHECK(stats.values ==
        decltype(stats.values){{"leases_held", 12}, {"sessions", 3}, {"renewals", 100000}});
}

TEST_CASE("replies: refusals") {
  const auto invalid = failure_of("error_invalid_lease_request");
  CHECK(invalid.code == core::FailureCode::invalid_lease_request);
  CHECK(invalid.field == "ttl_ms");
  CHECK(invalid.message == "Send an integer from 1");
  CHECK_FALSE(invalid.retry_after);
  const auto conflict = failure_of("error_lease_conflict");
  CHECK(conflict.retry_after == Milliseconds(250));
  CHECK_FALSE(conflict.replayed);
  CHECK_FALSE(conflict.held_by_caller);
  CHECK(failure_of("error_lease_conflict_replayed").replayed);
  CHECK(failure_of("error_lease_conflict_held_by_caller")
            .held_by_caller->value.starts_with("lease_"));
}

TEST_CASE("replies: members that a newer daemon adds are passed over") {
  std::string text =
      with(text_of("lease_acquired"), R"("replayed":false)", R"("replayed":false,"new":{"a":[1]})");
  text = with(text, R"("ttl_ms":)", R"("shard":null,"ttl_ms":)");
  const auto reply = reply_of(text);
  REQUIRE(reply.outcome);
  CHECK(ipc::encode_response(reply.id, reply.correlation, reply.outcome) ==
        text_of("lease_acquired"));
  CHECK(reply_of(with(text_of("error_lease_conflict"), R"("retryable")", R"("hint":1,"retryable")"))
            .outcome.error()
            .retry_after == Milliseconds(250));
}

TEST_CASE("replies: what is missing, mistyped or outside of a closed set is not understood") {
  const std::string grant = text_of("lease_acquired");
  CHECK(misunderstood(with(grant, "\"lease_acquired\"", "\"lease_lent\"")).starts_with("code:"));
  CHECK(misunderstood(with(grant, "\"active\"", "\"stale\"")).starts_with("lease.state:"));
  CHECK(misunderstood(with(grant, ",\"replayed\":false", "")).starts_with("replayed:"));
  CHECK(misunderstood(with(grant, "\"ttl_ms\":30000", "\"ttl_ms\":\"30000\""))
            .starts_with("lease.ttl_ms:"));
  CHECK(misunderstood(with(grant, "\"valid_for_ms\":29938,", "")).starts_with("valid_for_ms:"));
  CHECK(misunderstood(with(grant, "\"id\":2,", "")).starts_with("id:"));
  CHECK(misunderstood(with(grant, "\"success\"", "\"ok\"")).starts_with("status:"));
  CHECK(misunderstood(with(grant, "\"trace_id\":null", "\"trace_id\":1"))
            .starts_with("envelope.trace_id:"));
  CHECK(misunderstood(with(text_of("error_lease_lost"), "\"lease_lost\"", "\"gone\""))
            .starts_with("code:"));
  CHECK(misunderstood(with(text_of("lease_resolved_release"), "\"lease_released\"", "\"pong\""))
            .starts_with("result."));
  CHECK(misunderstood(with(text_of("hello"), "\"protocol\":1", "\"protocol\":2"))
            .starts_with("protocol:"));
  CHECK(misunderstood("[]") == "The payload is not a JSON object");
  CHECK(misunderstood("{}") != "");
}

TEST_CASE("replies: a large namespace is told as far as a frame reaches") {
  core::NamespaceAnswer answer;
  answer.namespace_name = "main";
  for (std::uint32_t i = 0; i < 4096; ++i) {
    answer.partitions.push_back(
        {i, "serving", {core::limits::maximum_token}, {core::limits::maximum_token}, INT64_MAX});
  }
  for (const std::size_t limit : {std::size_t{16384}, ipc::default_max_frame_bytes}) {
    const std::string payload = ipc::encode_response(std::int64_t{1}, core::CorrelationId("c"),
                                                     core::Answer(answer), limit);
    CHECK(payload.size() <= limit);
    const auto reply = reply_of(payload);
    const auto told = std::get<core::NamespaceAnswer>(*reply.outcome).partitions.size();
    CHECK(told > limit / 200);
    CHECK(payload.ends_with("\"partitions_left_out\":" + std::to_string(4096 - told) + "}}"));
  }
}

// Answers; see the header. One function an answer, in the order of core::Answer.
#include "proto-ipc/response_encoder.hpp"

#include "proto-ipc/document_json.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/message_id.hpp"
#include "proto-ipc/wire_codes.hpp"

namespace starlease::ipc {
namespace {

/// Kept free for what follows the list of partitions, and for one more of them.
constexpr std::size_t partition_reserve = 512;

void write_backend(JsonWriter& writer, core::BackendState state) {
  writer.object("backend").text("state", core::name(state)).end();
}

void write_replay(JsonWriter& writer, const std::optional<core::Replay>& replay) {
  writer.flag("replayed", replay.has_value());
  if (replay) writer.text("current_state", core::name(replay->current_state));
}

void write_limits(JsonWriter& writer, const core::Limits& limits) {
  writer.object("limits")
      .number("max_frame_bytes", limits.max_frame_bytes)
      .number("minimum_ttl_ms", limits.minimum_ttl.count())
      .number("maximum_ttl_ms", limits.maximum_ttl.count())
      .number("default_ttl_ms", limits.default_ttl.count())
      .number("maximum_lifetime_ms", limits.maximum_lifetime.count())
      .number("maximum_wait_ms", limits.maximum_wait.count())
      .number("max_leases", limits.max_leases)
      .end();
}

/// What a refusal has besides status, code and message.
void write_failure_members(JsonWriter& writer, const core::Failure& failure) {
  writer.flag("retryable", core::retryable(failure.code));
  if (failure.retry_after) writer.number("retry_after_ms", failure.retry_after->count());
  if (!failure.field.empty()) writer.text("field", failure.field);
  if (failure.replayed) writer.flag("replayed", true);
  if (failure.held_by_caller) {
    writer.flag("held_by_caller", true).text("lease_id", failure.held_by_caller->value);
  }
  if (failure.revision) writer.number("revision", *failure.revision);
}

struct WriteAnswer {
  JsonWriter& writer;
  std::size_t max_bytes;

  void operator()(const core::HelloAnswer& answer) const {
    writer.number("protocol", core::protocol_version)
        .text("server", answer.server)
        .text("principal_id", answer.owner.principal.value)
        .text("client_id", answer.owner.client.value)
        .text("credential_id", answer.owner.credential.value)
        .text("service_instance_id", answer.owner.instance.value)
        .text("resume", answer.resume);
    write_limits(writer, answer.limits);
    write_backend(writer, answer.backend);
  }

  void operator()(const core::GrantAnswer& answer) const {
    writer.object("lease");
    write_lease_members(writer, answer.identity, answer.grant, answer.state);
    writer.end();
    write_envelope(writer, "envelope", answer.envelope);
    writer.number("valid_for_ms", answer.valid_for.count())
        .number("valid_until_boottime_ns", answer.valid_until.time_since_epoch().count());
    write_replay(writer, answer.replay);
  }

  void operator()(const core::ReleasedAnswer& answer) const {
    writer.text("lease_id", answer.lease_id.value).number("fencing_token", answer.token.value);
    write_time(writer, "released_at", answer.released_at);
    write_replay(writer, answer.replay);
  }

  void operator()(const core::InspectedAnswer& answer) const {
    writer.object("lease");
    write_inspected(answer);
    writer.end();
  }

  void operator()(const core::ResolvedAnswer& answer) const {
    writer.text("outcome", answer.committed ? "committed" : "not_found");
    if (answer.result) {
      writer.object("result");
      std::visit([this](const auto& result) { write_result(result); }, *answer.result);
      writer.end();
    }
    if (answer.current_state) {
      writer.text("current_state", core::name(*answer.current_state));
    }
  }

  void operator()(const core::PongAnswer& answer) const {
    write_backend(writer, answer.backend);
    writer.number("boottime_ns", answer.boot_now.time_since_epoch().count());
  }

  void operator()(const core::GoodbyeAnswer&) const {}

  void operator()(const core::NamespaceAnswer& answer) const {
    writer.object("namespace").text("name", answer.namespace_name).array("partitions");
    std::size_t told = 0;
    for (const core::PartitionStatus& partition : answer.partitions) {
      if (writer.size() + partition_reserve > max_bytes) break;
      ++told;
      writer.object_element()
          .number("partition", partition.partition)
          .text("state", partition.state)
          .number("epoch", partition.epoch.value)
          .number("token_floor", partition.token_floor.value)
          .number("sequence", partition.sequence)
          .end();
    }
    writer.end();
    const auto left_out = static_cast<std::int64_t>(answer.partitions.size() - told);
    if (left_out > 0) writer.number("partitions_left_out", left_out);
    writer.end();
  }

  void operator()(const core::StatsAnswer& answer) const {
    writer.object("stats");
    for (const auto& [name, value] : answer.values) writer.number(name, value);
    writer.end();
  }

  void operator()(const core::CommittedAnswer& answer) const {
    write_time(writer, "accepted_at", answer.accepted_at);
    writer.number("fencing_token", answer.token.value);
    if (answer.revision > 0) writer.number("revision", answer.revision);
    write_replay(writer, answer.replay);
  }

  void operator()(const core::InvalidatedAnswer& answer) const {
    writer.text("lease_id", answer.lease_id.value).number("fencing_token", answer.token.value);
    write_time(writer, "ended_at", answer.ended_at);
    write_replay(writer, answer.replay);
  }

  void operator()(const core::DocumentAnswer& answer) const {
    write_document(writer, "document", answer.document);
  }

  void operator()(const core::ListedAnswer& answer) const {
    write_page("leases", answer.leases, answer.next_cursor);
  }

  void operator()(const core::HistoryAnswer& answer) const {
    write_page("history", answer.history, answer.next_cursor);
  }

 private:
  /// Into the object that is open.
  void write_inspected(const core::InspectedAnswer& answer) const {
    write_lease_members(writer, answer.identity, answer.grant, answer.state);
    if (answer.ended_at) write_time(writer, "ended_at", *answer.ended_at);
    if (!answer.end_reason.empty()) writer.text("end_reason", answer.end_reason);
  }
  void write_page(std::string_view name, const std::vector<core::InspectedAnswer>& leases,
                  const std::string& next_cursor) const {
    writer.array(name);
    for (const core::InspectedAnswer& lease : leases) {
      writer.object_element();
      write_inspected(lease);
      writer.end();
    }
    writer.end();
    if (!next_cursor.empty()) writer.text("next_cursor", next_cursor);
  }
  void write_result(const core::GrantAnswer& answer) const { write_success(answer); }
  void write_result(const core::ReleasedAnswer& answer) const { write_success(answer); }
  void write_result(const core::CommittedAnswer& answer) const { write_success(answer); }
  void write_result(const core::InvalidatedAnswer& answer) const { write_success(answer); }
  void write_result(const core::Failure& failure) const {
    writer.text("status", "error")
        .text("code", core::name(failure.code))
        .text("msg", failure.message);
    write_failure_members(writer, failure);
  }
  template <class Answer>
  void write_success(const Answer& answer) const {
    writer.text("status", "success").text("code", name(code_of(answer)));
    (*this)(answer);
  }
};

}  // namespace

std::string encode_response(const RequestId& id, const core::CorrelationId& correlation,
                            const core::Outcome<core::Answer>& outcome,
                            std::size_t max_frame_bytes) {
  JsonWriter writer;
  write_message_id(writer, id);
  if (outcome) {
    writer.text("status", "success")
        .text("code", name(code_of(*outcome)))
        .text("correlation_id", correlation.value);
    std::visit(WriteAnswer{writer, max_frame_bytes}, *outcome);
  } else {
    const core::Failure& failure = outcome.error();
    writer.text("status", "error")
        .text("code", core::name(failure.code))
        .text("msg", failure.message)
        .text("correlation_id", correlation.value);
    write_failure_members(writer, failure);
  }
  return writer.finish();
}

}  // namespace starlease::ipc

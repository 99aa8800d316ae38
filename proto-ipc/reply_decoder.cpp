// Answers and events; see the header. The mirror of response_encoder and event_encoder: each read
// function stands for one write function there.
#include "proto-ipc/reply_decoder.hpp"

#include "lib/base/assert.hpp"
#include "proto-ipc/document_json.hpp"
#include "proto-ipc/fields.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/wire_codes.hpp"
#include "proto-ipc/wire_names.hpp"

namespace starlease::ipc {
namespace {

using core::Milliseconds;

Milliseconds read_ms(Fields& fields, std::string_view name) {
  return Milliseconds(fields.need_integer(name, any_integer));
}

core::BootTime read_boot_time(Fields& fields, std::string_view name) {
  return core::BootTime(core::Nanoseconds(fields.need_integer(name, any_integer)));
}

bool read_flag(Fields& fields, std::string_view name) {
  return fields.required(name, fields.flag(name));
}

core::BackendState read_backend_state(Fields& fields) {
  return static_cast<core::BackendState>(fields.need_choice("state", backend_state_names));
}

core::BackendState read_backend(Fields& fields) {
  auto object = fields.present("backend", fields.object("backend"));
  return object ? read_backend_state(*object) : core::BackendState{};
}

std::optional<core::Replay> read_replay(Fields& fields) {
  if (!read_flag(fields, "replayed")) return std::nullopt;
  return core::Replay{read_state(fields, "current_state")};
}

// --- answers ------------------------------------------------------------------------------------

core::Limits read_limits(Fields& fields) {
  core::Limits limits;
  auto object = fields.present("limits", fields.object("limits"));
  if (!object) return limits;
  limits.max_frame_bytes = object->need_integer("max_frame_bytes", {1, UINT32_MAX});
  limits.minimum_ttl = read_ms(*object, "minimum_ttl_ms");
  limits.maximum_ttl = read_ms(*object, "maximum_ttl_ms");
  limits.default_ttl = read_ms(*object, "default_ttl_ms");
  limits.maximum_lifetime = read_ms(*object, "maximum_lifetime_ms");
  limits.maximum_wait = read_ms(*object, "maximum_wait_ms");
  limits.max_leases = object->need_integer("max_leases", any_integer);
  return limits;
}

core::HelloAnswer read_hello(Fields& fields) {
  core::HelloAnswer answer;
  (void)fields.need_integer("protocol", {core::protocol_version, core::protocol_version});
  answer.server = fields.need_text("server", any_text);
  answer.owner.principal = core::PrincipalId(fields.need_text("principal_id", any_text));
  answer.owner.client = core::ClientId(fields.need_text("client_id", any_text));
  answer.owner.credential = core::CredentialId(fields.need_text("credential_id", any_text));
  answer.owner.instance =
      core::ServiceInstanceId(fields.need_text("service_instance_id", any_text));
  answer.resume = fields.need_text("resume", any_text);
  answer.limits = read_limits(fields);
  answer.backend = read_backend(fields);
  return answer;
}

core::GrantAnswer read_grant(Fields& fields, bool renewed) {
  core::GrantAnswer answer;
  answer.renewed = renewed;
  if (auto object = fields.present("lease", fields.object("lease"))) {
    LeaseMembers lease = read_lease_members(*object);
    answer.identity = std::move(lease.identity);
    answer.grant = std::move(lease.grant);
    answer.state = lease.state;
  }
  answer.envelope = read_envelope(fields, "envelope");
  answer.valid_for = read_ms(fields, "valid_for_ms");
  answer.valid_until = read_boot_time(fields, "valid_until_boottime_ns");
  answer.replay = read_replay(fields);
  return answer;
}

core::ReleasedAnswer read_released(Fields& fields) {
  core::ReleasedAnswer answer;
  answer.lease_id = read_lease_id(fields);
  answer.token = read_token(fields);
  answer.released_at = read_time(fields, "released_at");
  answer.replay = read_replay(fields);
  return answer;
}

core::NamespaceAnswer read_namespace(Fields& fields) {
  core::NamespaceAnswer answer;
  answer.namespace_name = fields.need_text("name", any_text);
  const auto list = fields.present("partitions", fields.list("partitions"));
  if (!list) return answer;
  Refusal refusal;
  for (const JsonValue item : list->children()) {
    if (!item.is_object()) {
      fields.refuse("partitions", "Send an array of objects");
      break;
    }
    Fields partition(item, refusal, "partitions.");
    core::PartitionStatus status;
    status.partition =
        static_cast<std::uint32_t>(partition.need_integer("partition", {0, UINT32_MAX}));
    status.state = partition.need_text("state", any_text);
    status.epoch.value = partition.need_integer("epoch", any_integer);
    status.token_floor.value = partition.need_integer("token_floor", any_integer);
    status.sequence = partition.need_integer("sequence", any_integer);
    answer.partitions.push_back(std::move(status));
  }
  if (refusal) fields.refuse(refusal->field, refusal->message);
  return answer;
}

core::StatsAnswer read_stats(Fields& fields, JsonValue object) {
  core::StatsAnswer answer;
  for (const JsonValue member : object.children()) {
    const auto value = member.integer();
    if (!value) fields.refuse("stats", "Send an object of integers");
    answer.values.emplace_back(member.key(), value.value_or(0));
  }
  return answer;
}

core::InspectedAnswer read_inspected_members(Fields& fields) {
  core::InspectedAnswer answer;
  LeaseMembers lease = read_lease_members(fields);
  answer.identity = std::move(lease.identity);
  answer.grant = std::move(lease.grant);
  answer.state = lease.state;
  if (const auto ended_at = fields.time("ended_at")) {
    answer.ended_at = core::backend_time(*ended_at);
  }
  answer.end_reason = fields.text("end_reason", any_text).value_or("");
  return answer;
}

core::InspectedAnswer read_inspected_lease(Fields& fields) {
  auto object = fields.present("lease", fields.object("lease"));
  return object ? read_inspected_members(*object) : core::InspectedAnswer{};
}

std::vector<core::InspectedAnswer> read_leases(Fields& fields, std::string_view name) {
  std::vector<core::InspectedAnswer> leases;
  const auto list = fields.present(name, fields.list(name));
  if (!list) return leases;
  Refusal refusal;
  for (const JsonValue item : list->children()) {
    if (!item.is_object()) {
      fields.refuse(name, "Send an array of objects");
      break;
    }
    Fields members(item, refusal, std::string(name) + '.');
    leases.push_back(read_inspected_members(members));
  }
  if (refusal) fields.refuse(refusal->field, refusal->message);
  return leases;
}

std::string read_next_cursor(Fields& fields) {
  return fields.text("next_cursor", any_text).value_or("");
}

core::CommittedAnswer read_committed(Fields& fields, bool wrote) {
  core::CommittedAnswer answer;
  answer.accepted_at = read_time(fields, "accepted_at");
  answer.token = read_token(fields);
  if (wrote) answer.revision = fields.need_integer("revision", {1, core::limits::maximum_token});
  answer.replay = read_replay(fields);
  return answer;
}

core::InvalidatedAnswer read_invalidated(Fields& fields, core::Operation operation) {
  core::InvalidatedAnswer answer;
  answer.operation = operation;
  answer.lease_id = read_lease_id(fields);
  answer.token = read_token(fields);
  answer.ended_at = read_time(fields, "ended_at");
  answer.replay = read_replay(fields);
  return answer;
}

core::Answer read_inspected(Fields& fields) {
  if (auto object = fields.object("document")) return core::DocumentAnswer{read_document(*object)};
  if (auto object = fields.object("namespace")) return read_namespace(*object);
  const auto stats = fields.value("stats");
  if (stats && stats->is_object()) return read_stats(fields, *stats);
  return read_inspected_lease(fields);
}

core::Failure read_failure(Fields& fields) {
  core::Failure failure;
  const std::string code = fields.need_text("code", any_text);
  const auto known = parse_failure_code(code);
  if (!known) fields.refuse("code", "Unknown code \"" + code + '"');
  failure.code = known.value_or(core::FailureCode{});
  failure.message = fields.need_text("msg", any_text);
  if (const auto ms = fields.integer("retry_after_ms", {0, longest_duration_ms})) {
    failure.retry_after = Milliseconds(*ms);
  }
  failure.field = fields.text("field", any_text).value_or("");
  failure.replayed = fields.flag("replayed").value_or(false);
  if (fields.flag("held_by_caller").value_or(false)) {
    failure.held_by_caller = read_lease_id(fields);
  }
  failure.revision = fields.integer("revision", revision_rule);
  return failure;
}

core::ResolvedAnswer read_resolved(Fields& fields);

core::Answer read_answer(Fields& fields) {
  const std::string text = fields.need_text("code", any_text);
  const auto code = parse_success_code(text);
  if (!code) {
    fields.refuse("code", "Unknown code \"" + text + '"');
    return {};
  }
  switch (*code) {
    case SuccessCode::hello:
      return read_hello(fields);
    case SuccessCode::pong:
      return core::PongAnswer{read_backend(fields), read_boot_time(fields, "boottime_ns")};
    case SuccessCode::goodbye:
      return core::GoodbyeAnswer{};
    case SuccessCode::lease_acquired:
      return read_grant(fields, false);
    case SuccessCode::lease_renewed:
      return read_grant(fields, true);
    case SuccessCode::lease_released:
      return read_released(fields);
    case SuccessCode::lease_inspected:
      return read_inspected(fields);
    case SuccessCode::lease_resolved:
      return read_resolved(fields);
    case SuccessCode::lease_committed:
      return read_committed(fields, true);
    case SuccessCode::lease_commit_authorized:
      return read_committed(fields, false);
    case SuccessCode::lease_listed:
      return core::ListedAnswer{read_leases(fields, "leases"), read_next_cursor(fields)};
    case SuccessCode::lease_history:
      return core::HistoryAnswer{read_leases(fields, "history"), read_next_cursor(fields)};
    case SuccessCode::lease_force_released:
      return read_invalidated(fields, core::Operation::force_release);
    case SuccessCode::lease_revoked:
      return read_invalidated(fields, core::Operation::revoke);
  }
  SL_UNREACHABLE();
}

/// True for "success", false for "error".
bool read_status(Fields& fields) {
  constexpr std::array<std::string_view, 2> statuses = {"error", "success"};
  return fields.need_choice("status", statuses) == 1;
}

core::ResolvedAnswer read_resolved(Fields& fields) {
  core::ResolvedAnswer answer;
  answer.committed = fields.need_choice("outcome", resolve_outcome_names) == 1;
  if (const auto state = fields.choice("current_state", state_names)) {
    answer.current_state = static_cast<core::LeaseState>(*state);
  }
  auto result = fields.object("result");
  if (!result) return answer;
  if (!read_status(*result)) {
    answer.result = read_failure(*result);
    return answer;
  }
  // Only mutating operations are resolved, so it is one of these.
  core::Answer original = read_answer(*result);
  if (auto* grant = std::get_if<core::GrantAnswer>(&original)) {
    answer.result = std::move(*grant);
  } else if (auto* released = std::get_if<core::ReleasedAnswer>(&original)) {
    answer.result = std::move(*released);
  } else if (auto* committed = std::get_if<core::CommittedAnswer>(&original)) {
    answer.result = std::move(*committed);
  } else if (auto* ended = std::get_if<core::InvalidatedAnswer>(&original)) {
    answer.result = std::move(*ended);
  } else {
    result->refuse("code", "No mutating operation answers with this code");
  }
  return answer;
}

RequestId read_id(Fields& fields) {
  const auto value = fields.present("id", fields.value("id"));
  if (!value || value->type() == JsonType::null) return {};
  if (const auto number = value->integer()) return *number;
  return fields.need_text("id", any_text);
}

Message read_reply(Fields& fields) {
  Reply reply{read_id(fields), {}, core::Answer{}};
  reply.correlation = core::CorrelationId(fields.need_text("correlation_id", any_text));
  if (read_status(fields)) {
    reply.outcome = read_answer(fields);
  } else {
    reply.outcome = base::failed(read_failure(fields));
  }
  return reply;
}

// --- events -------------------------------------------------------------------------------------

core::LeaseLost read_lost(Fields& fields) {
  core::LeaseLost event;
  event.lease_id = read_lease_id(fields);
  event.token = read_token(fields);
  event.identity = read_lock_identity(fields, "lock_identity");
  event.reason = static_cast<core::LossReason>(fields.need_choice("reason", loss_reason_names));
  const auto state = fields.present("state", fields.value("state"));
  if (state && state->type() != JsonType::null) event.state = read_state(fields, "state");
  event.detected_at = core::WallTime(Milliseconds(fields.need_time("detected_at")));
  event.valid_for = read_ms(fields, "valid_for_ms");
  return event;
}

core::LeaseExpiring read_expiring(Fields& fields) {
  return {read_lease_id(fields), read_token(fields), read_ms(fields, "remaining_ms")};
}

core::LeaseRenewedNotice read_renewed(Fields& fields) {
  return {read_lease_id(fields), read_token(fields), read_time(fields, "expires_at"),
          read_ms(fields, "valid_for_ms"), read_boot_time(fields, "valid_until_boottime_ns")};
}

Message read_event(Fields& fields) {
  std::string name = fields.need_text("event", any_text);
  if (name == "lease_lost") return core::Event(read_lost(fields));
  if (name == "lease_expiring") return core::Event(read_expiring(fields));
  if (name == "lease_renewed") return core::Event(read_renewed(fields));
  if (name == "backend_state") {
    return core::Event(core::BackendStateChanged{read_backend_state(fields)});
  }
  if (name == "draining") return core::Event(core::Draining{read_flag(fields, "restart")});
  if (name == "protocol_error") {
    return core::Event(core::ProtocolError{fields.need_text("msg", any_text)});
  }
  return UnknownEvent{std::move(name)};
}

}  // namespace

base::Result<Message, FrameError> ReplyDecoder::decode(std::string_view payload) {
  const auto object = reader_.read(payload);
  if (!object) return base::failed(FrameError{std::string(object.error())});
  Refusal refusal;
  Fields fields(*object, refusal);
  Message message = object->find("event") ? read_event(fields) : read_reply(fields);
  if (refusal) return base::failed(FrameError{refusal->field + ": " + refusal->message});
  return message;
}

base::Result<Message, FrameError> decode_message(std::string_view payload) {
  // Scratch memory, not state: what is decoded owns all it holds.
  thread_local ReplyDecoder decoder;
  return decoder.decode(payload);
}

}  // namespace starlease::ipc

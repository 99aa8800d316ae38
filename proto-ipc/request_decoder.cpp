// Requests; see the header. One function an operation, in the order of core::Call.
#include "proto-ipc/request_decoder.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/invalidation.hpp"
#include "proto-ipc/compact_object.hpp"
#include "proto-ipc/document_json.hpp"
#include "proto-ipc/fields.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/wire_names.hpp"

namespace starlease::ipc {
namespace {

using core::Milliseconds;

constexpr TextRule client_rule{1, client_name_bytes, false};
constexpr TextRule credential_rule{1, credential_bytes, false};
constexpr TextRule reason_rule{1, core::limits::reason_bytes, false};

// --- parts that several operations have ---------------------------------------------------------

/// A duration of at least `least`; the longest stands for all longer ones.
std::optional<Milliseconds> read_duration(Fields& fields, std::string_view name,
                                          std::int64_t least) {
  const auto given = fields.integer(name, {least, INT64_MAX});
  if (!given) return std::nullopt;
  return Milliseconds(std::min(*given, longest_duration_ms));
}

core::RequestId read_request_id(Fields& fields) {
  return core::RequestId(fields.need_text("request_id", id_rule));
}

core::DeadlineRequest read_deadline(Fields& fields) {
  core::DeadlineRequest deadline;
  if (const auto at = fields.time("deadline_at")) deadline.at = core::WallTime(Milliseconds(*at));
  deadline.timeout = read_duration(fields, "timeout_ms", 0);
  if (deadline.at && deadline.timeout) {
    fields.refuse("deadline_at", "Send deadline_at or timeout_ms, not both");
  }
  return deadline;
}

/// Which components must be there, and what they may hold, is decided by core::normalize().
std::optional<core::RawIdentity> read_identity(Fields& fields) {
  auto object = fields.object("identity");
  if (!object) return std::nullopt;
  core::RawIdentity identity;
  for (std::size_t i = 0; i < core::component_count; ++i) {
    identity.components[i] = object->text(core::component_names[i], any_text);
  }
  object->refuse_unknown();
  return identity;
}

// --- operations ---------------------------------------------------------------------------------

void read_notify(Fields& fields, core::HelloCall& call) {
  const auto list = fields.list("notify");
  if (!list) return;
  for (const JsonValue item : list->children()) {
    const auto wish = item.string();
    if (wish == "renewed") {
      call.notify_renewed = true;
    } else if (wish == "backend") {
      call.notify_backend = true;
    } else {
      fields.refuse("notify", "Send an array that holds \"renewed\", \"backend\" or both");
    }
  }
}

core::HelloCall read_hello(Fields& fields) {
  core::HelloCall call;
  call.protocol = fields.need_integer("protocol", any_integer);
  call.client = fields.need_text("client", client_rule);
  call.credential = fields.text("credential", credential_rule).value_or("");
  call.instance = core::ServiceInstanceId(fields.text("service_instance_id", id_rule).value_or(""));
  call.resume = fields.text("resume", credential_rule).value_or("");
  read_notify(fields, call);
  return call;
}

core::AcquireCall read_acquire(Fields& fields) {
  core::AcquireCall call;
  call.identity = fields.required("identity", read_identity(fields));
  call.request_id = read_request_id(fields);
  call.deadline = read_deadline(fields);
  call.ttl = read_duration(fields, "ttl_ms", 1);
  call.maximum_lifetime = read_duration(fields, "maximum_lifetime_ms", 1);
  call.wait = read_duration(fields, "wait_ms", 0).value_or(Milliseconds(0));
  call.heartbeat = read_duration(fields, "heartbeat_ms", 0).value_or(Milliseconds(0));
  call.work.execution = core::ExecutionId(fields.text("execution_id", id_rule).value_or(""));
  call.work.job = core::JobId(fields.text("job_id", id_rule).value_or(""));
  call.work.trace = core::TraceId(fields.text("trace_id", id_rule).value_or(""));
  if (const auto metadata = fields.value("metadata")) {
    auto text = compact_object(*metadata, "metadata", metadata_rule);
    if (text) {
      call.metadata = std::move(*text);
    } else {
      fields.refuse("metadata", std::move(text.error().message));
    }
  }
  call.renew = static_cast<core::RenewMode>(fields.choice("renew", renew_mode_names).value_or(0));
  call.on_disconnect = static_cast<core::OnDisconnect>(
      fields.choice("on_disconnect", on_disconnect_names).value_or(0));
  return call;
}

core::RenewCall read_renew(Fields& fields) {
  core::RenewCall call;
  call.lease_id = read_lease_id(fields);
  call.token = read_token(fields);
  call.request_id = read_request_id(fields);
  call.deadline = read_deadline(fields);
  call.ttl = read_duration(fields, "ttl_ms", 1);
  return call;
}

core::ReleaseCall read_release(Fields& fields) {
  core::ReleaseCall call;
  call.lease_id = read_lease_id(fields);
  call.token = read_token(fields);
  call.request_id = read_request_id(fields);
  call.deadline = read_deadline(fields);
  return call;
}

core::InspectCall read_inspect(Fields& fields) {
  core::InspectCall call;
  call.identity = read_identity(fields);
  if (auto id = fields.text("lease_id", lease_id_rule)) call.lease_id = core::LeaseId(*id);
  if (call.identity && call.lease_id) {
    fields.refuse("lease_id", "Send identity or lease_id, not both");
  }
  if (!call.identity && !call.lease_id) fields.refuse("identity", "Send identity or lease_id");
  return call;
}

core::ResolveCall read_resolve(Fields& fields) {
  core::ResolveCall call;
  call.request_id = read_request_id(fields);
  call.operation = static_cast<core::Operation>(fields.need_choice("operation", resolvable_names));
  call.identity = fields.required("identity", read_identity(fields));
  return call;
}

core::CommitCall read_commit(Fields& fields) {
  core::CommitCall call;
  if (auto envelope = fields.present("envelope", fields.object("envelope"))) {
    call.envelope = read_envelope_members(*envelope);
    envelope->refuse_unknown();
  }
  call.request_id = read_request_id(fields);
  call.deadline = read_deadline(fields);
  auto write = fields.present("write", fields.object("write"));
  if (!write) return call;
  const bool is_document = write->need_choice("kind", write_kind_names) == 1;
  if (is_document && write->ok()) {
    call.write = core::DocumentWrite{read_document_content(*write),
                                     write->need_integer("expect_revision", revision_rule)};
  }
  write->refuse_unknown();
  return call;
}

core::DocumentCall read_document_call(Fields& fields) {
  core::DocumentCall call;
  call.identity = fields.required("identity", read_identity(fields));
  call.name = fields.need_text("name", id_rule);
  return call;
}

core::InvalidateCall read_invalidate(Fields& fields, core::Operation operation) {
  core::InvalidateCall call;
  call.operation = operation;
  call.identity = fields.required("identity", read_identity(fields));
  if (auto observed = fields.present("observed", fields.object("observed"))) {
    call.lease_id = read_lease_id(*observed);
    call.token = read_token(*observed);
    observed->refuse_unknown();
  }
  call.request_id = read_request_id(fields);
  call.deadline_at = core::WallTime(Milliseconds(fields.need_time("deadline_at")));
  const auto reason = fields.text("reason", reason_rule);
  const auto incident = fields.text("incident_id", reason_rule);
  if (reason.has_value() == incident.has_value()) {
    fields.refuse("reason", "Send reason or incident_id, one of them");
  }
  call.is_incident = incident.has_value();
  call.reason = reason ? *reason : incident.value_or("");
  if (!core::is_reason(call.reason)) {
    fields.refuse(call.is_incident ? "incident_id" : "reason",
                  "Send text without control characters");
  }
  if (auto signature = fields.present("signature", fields.object("signature"))) {
    call.key_id = signature->need_text("key_id", id_rule);
    call.signature = signature->need_text("value", credential_rule);
    signature->refuse_unknown();
  }
  return call;
}

core::PageRequest read_page(Fields& fields) {
  core::PageRequest page;
  page.size = fields.integer("page_size", {1, INT64_MAX});
  page.cursor = fields.text("cursor", any_text);
  return page;
}

core::ListCall read_list(Fields& fields) {
  core::ListCall call;
  call.by = static_cast<core::ListBy>(fields.need_choice("by", list_by_names));
  if (!fields.ok()) return call;
  if (call.by == core::ListBy::owner) {
    if (auto owner = fields.text("owner_principal_id", id_rule)) {
      call.owner = core::PrincipalId(std::move(*owner));
    }
  } else {
    const std::size_t count = call.by == core::ListBy::target ? 4 : 2;
    for (std::size_t i = 0; i < count; ++i) {
      call.target.components[i] = fields.need_text(core::component_names[i], any_text);
    }
  }
  call.page = read_page(fields);
  return call;
}

core::HistoryCall read_history(Fields& fields) {
  core::HistoryCall call;
  call.identity = fields.required("identity", read_identity(fields));
  call.page = read_page(fields);
  return call;
}

core::NamespaceCall read_namespace(Fields& fields) {
  return {static_cast<core::NamespaceAction>(fields.need_choice("action", namespace_action_names))};
}

using ReadCall = core::Call (*)(Fields&);

template <auto Read>
core::Call read_as(Fields& fields) {
  return Read(fields);
}

template <class Call>
core::Call read_nothing(Fields&) {
  return Call{};
}

template <core::Operation O>
core::Call read_invalidation(Fields& fields) {
  return read_invalidate(fields, O);
}

struct OperationRow {
  ReadCall read;
  bool on_worker_socket;
  bool on_admin_socket;
};

/// In the order of operation_names.
constexpr std::array<OperationRow, operation_names.size()> operations = {{
    {read_as<read_hello>, true, true},
    {read_as<read_acquire>, true, false},
    {read_as<read_renew>, true, false},
    {read_as<read_release>, true, false},
    {read_as<read_inspect>, true, true},
    {read_as<read_resolve>, true, true},
    {read_nothing<core::PingCall>, true, true},
    {read_nothing<core::GoodbyeCall>, true, true},
    {read_as<read_namespace>, false, true},
    {read_nothing<core::StatsCall>, false, true},
    {read_as<read_commit>, true, false},
    {read_as<read_document_call>, true, true},
    {read_as<read_list>, true, true},
    {read_as<read_history>, true, true},
    {read_invalidation<core::Operation::force_release>, false, true},
    {read_invalidation<core::Operation::revoke>, false, true},
}};

bool spoken(const OperationRow& row, bool admin) {
  return admin ? row.on_admin_socket : row.on_worker_socket;
}

std::string say_operations(bool admin) {
  std::string sentence = "Send one of the operations of this socket:";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (spoken(operations[i], admin)) (sentence += ' ').append(operation_names[i]);
  }
  return sentence;
}

/// REQUIRES: `fields` has no refusal yet.
core::Call read_call(Fields& fields, bool admin) {
  const std::string op = fields.need_text("op", any_text);
  if (!fields.ok()) return {};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operation_names[i] != op || !spoken(operations[i], admin)) continue;
    core::Call call = operations[i].read(fields);
    fields.refuse_unknown();
    return call;
  }
  fields.refuse("op", say_operations(admin));
  return {};
}

RequestId read_id(Fields& fields) {
  const auto value = fields.present("id", fields.value("id"));
  if (!value) return {};
  if (const auto number = value->integer()) return *number;
  const auto text = value->string();
  if (text && text->size() <= message_id_bytes) return std::string(*text);
  fields.refuse("id", "Send an integer of 64 bits or a string of at most 64 bytes");
  return {};
}

}  // namespace

DecodedRequest RequestDecoder::decode(std::string_view payload, bool admin) {
  const auto object = reader_.read(payload);
  if (!object) return FrameError{std::string(object.error())};
  Refusal refusal;
  Fields fields(*object, refusal);
  Request request;
  request.id = read_id(fields);
  if (fields.ok()) request.call = read_call(fields, admin);
  if (refusal) return RefusedRequest{std::move(request.id), std::move(*refusal)};
  return request;
}

}  // namespace starlease::ipc

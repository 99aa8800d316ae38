// Lease objects; see the header.
#include "proto-ipc/lease_json.hpp"

#include "lib/base/rfc3339.hpp"
#include "proto-ipc/wire_names.hpp"

namespace starlease::ipc {

// --- writing ------------------------------------------------------------------------------------

void write_identity(JsonWriter& writer, std::string_view name, const core::LockIdentity& identity) {
  writer.object(name);
  for (std::size_t i = 0; i < core::component_count; ++i) {
    writer.text(core::component_names[i], identity.components[i]);
  }
  writer.end();
}

void write_identity(JsonWriter& writer, std::string_view name, const core::RawIdentity& identity) {
  writer.object(name);
  for (std::size_t i = 0; i < core::component_count; ++i) {
    const auto& component = identity.components[i];
    if (component) writer.text(core::component_names[i], *component);
  }
  writer.end();
}

void write_id(JsonWriter& writer, std::string_view name, std::string_view id) {
  if (id.empty()) {
    writer.null(name);
  } else {
    writer.text(name, id);
  }
}

void write_time(JsonWriter& writer, std::string_view name, core::BackendTime time) {
  writer.text(name, base::rfc3339_format(core::unix_ms(time)));
}

void write_lease_members(JsonWriter& writer, const core::LockIdentity& identity,
                         const core::Grant& grant, core::LeaseState state) {
  write_identity(writer, "lock_identity", identity);
  writer.text("lease_id", grant.lease_id.value).number("fencing_token", grant.token.value);
  write_time(writer, "acquired_at", grant.acquired_at);
  write_time(writer, "renewed_at", grant.renewed_at);
  write_time(writer, "expires_at", grant.expires_at);
  writer.number("ttl_ms", grant.ttl.count()).text("state", core::name(state));
}

void write_envelope(JsonWriter& writer, std::string_view name, const core::Envelope& envelope) {
  writer.object(name);
  writer.text("lock_key", envelope.lock_key)
      .text("lease_id", envelope.lease_id.value)
      .number("fencing_token", envelope.token.value);
  write_time(writer, "expires_at", envelope.expires_at);
  write_id(writer, "execution_id", envelope.execution.value);
  write_id(writer, "trace_id", envelope.trace.value);
  writer.end();
}

// --- reading ------------------------------------------------------------------------------------

core::LeaseId read_lease_id(Fields& fields) {
  return core::LeaseId(fields.need_text("lease_id", lease_id_rule));
}

core::FencingToken read_token(Fields& fields) {
  return {fields.need_integer("fencing_token", token_rule)};
}

std::string read_optional_id(Fields& fields, std::string_view name) {
  const auto value = fields.present(name, fields.value(name));
  if (!value || value->type() == JsonType::null) return {};
  return fields.need_text(name, id_rule);
}

core::LeaseState read_state(Fields& fields, std::string_view name) {
  return static_cast<core::LeaseState>(fields.need_choice(name, state_names));
}

core::BackendTime read_time(Fields& fields, std::string_view name) {
  return core::backend_time(fields.need_time(name));
}

core::LockIdentity read_lock_identity(Fields& fields, std::string_view name) {
  core::LockIdentity identity;
  auto object = fields.present(name, fields.object(name));
  if (!object) return identity;
  constexpr TextRule rule{1, core::limits::identity_component_bytes, false};
  for (std::size_t i = 0; i < core::component_count; ++i) {
    identity.components[i] = object->need_text(core::component_names[i], rule);
  }
  return identity;
}

LeaseMembers read_lease_members(Fields& fields) {
  LeaseMembers lease;
  lease.identity = read_lock_identity(fields, "lock_identity");
  lease.grant.lease_id = read_lease_id(fields);
  lease.grant.token = read_token(fields);
  lease.grant.acquired_at = read_time(fields, "acquired_at");
  lease.grant.renewed_at = read_time(fields, "renewed_at");
  lease.grant.expires_at = read_time(fields, "expires_at");
  lease.grant.ttl = core::Milliseconds(fields.need_integer("ttl_ms", {0, longest_duration_ms}));
  lease.state = read_state(fields, "state");
  return lease;
}

core::Envelope read_envelope_members(Fields& fields) {
  core::Envelope envelope;
  envelope.lock_key = fields.need_text("lock_key", any_text);
  envelope.lease_id = read_lease_id(fields);
  envelope.token = read_token(fields);
  envelope.expires_at = read_time(fields, "expires_at");
  envelope.execution = core::ExecutionId(read_optional_id(fields, "execution_id"));
  envelope.trace = core::TraceId(read_optional_id(fields, "trace_id"));
  return envelope;
}

core::Envelope read_envelope(Fields& fields, std::string_view name) {
  auto object = fields.present(name, fields.object(name));
  return object ? read_envelope_members(*object) : core::Envelope{};
}

}  // namespace starlease::ipc

// Documents, commits and envelopes between the domain's types and the installed headers'.
#include "lib/client/convert.hpp"
#include "proto-ipc/fields.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::client {
namespace {

// Both enums list the types in the order of the protocol.
static_assert(static_cast<int>(DocumentType::schedule) ==
              static_cast<int>(core::DocumentType::schedule));

}  // namespace

Commit public_commit(const core::CommittedAnswer& answer) {
  Commit commit;
  commit.accepted_at = public_time(answer.accepted_at);
  commit.fencing_token = answer.token.value;
  commit.revision = answer.revision;
  commit.replayed = answer.replay.has_value();
  if (answer.replay) commit.current_state = public_state(answer.replay->current_state);
  return commit;
}

Document public_document(const core::DocumentAnswer& answer) {
  const core::Document& from = answer.document;
  Document document;
  document.content.name = from.content.name;
  document.content.type = static_cast<DocumentType>(from.content.type);
  document.content.body_json = from.content.body;
  document.content.expect_revision = from.revision;
  document.content.sequence = from.content.sequence;
  document.content.completed_execution_id = from.content.completed_execution.value;
  document.content.next_due_at = public_time(from.content.next_due);
  document.revision = from.revision;
  document.fencing_token = from.token.value;
  document.lease_id = from.lease_id.value;
  document.execution_id = from.execution.value;
  document.trace_id = from.trace.value;
  document.accepted_at = public_time(from.accepted_at);
  return document;
}

std::optional<core::Envelope> parse_envelope(const std::string& json) {
  ipc::JsonReader reader;
  const auto object = reader.read(json);
  if (!object) return std::nullopt;
  ipc::Refusal refusal;
  ipc::Fields fields(*object, refusal);
  core::Envelope envelope = ipc::read_envelope_members(fields);
  fields.refuse_unknown();
  if (refusal) return std::nullopt;
  return envelope;
}

core::DocumentWrite core_write(const DocumentWrite& write) {
  core::DocumentWrite out;
  out.content.name = write.name;
  out.content.type = static_cast<core::DocumentType>(write.type);
  out.content.body = write.body_json;
  out.content.sequence = write.sequence;
  out.content.completed_execution = core::ExecutionId(write.completed_execution_id);
  out.content.next_due = core::BackendTime(write.next_due_at.time_since_epoch());
  out.expect_revision = write.expect_revision;
  return out;
}

}  // namespace starlease::client

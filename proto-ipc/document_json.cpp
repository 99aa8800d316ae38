// Documents; see the header.
#include "proto-ipc/document_json.hpp"

#include "proto-ipc/compact_object.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/wire_names.hpp"

namespace starlease::ipc {
namespace {

using core::DocumentType;

constexpr IntegerRule sequence_rule{1, core::limits::maximum_token};

std::string read_body(Fields& fields) {
  const auto value = fields.present("body", fields.value("body"));
  if (!value) return {};
  auto text = compact_object(*value, "body", document_body_rule);
  if (text) return std::move(*text);
  fields.refuse("body", std::move(text.error().message));
  return {};
}

}  // namespace

void write_document_content(JsonWriter& writer, const core::DocumentContent& content) {
  writer.text("name", content.name).text("type", core::name(content.type));
  writer.raw("body", content.body);
  if (content.type == DocumentType::checkpoint) writer.number("sequence", content.sequence);
  if (content.type == DocumentType::schedule) {
    writer.text("completed_execution_id", content.completed_execution.value);
    write_time(writer, "next_due_at", content.next_due);
  }
}

void write_document(JsonWriter& writer, std::string_view name, const core::Document& document) {
  writer.object(name);
  write_document_content(writer, document.content);
  writer.number("revision", document.revision)
      .text("lease_id", document.lease_id.value)
      .number("fencing_token", document.token.value);
  write_id(writer, "execution_id", document.execution.value);
  write_id(writer, "trace_id", document.trace.value);
  write_time(writer, "accepted_at", document.accepted_at);
  writer.end();
}

core::DocumentContent read_document_content(Fields& fields) {
  core::DocumentContent content;
  content.name = fields.need_text("name", id_rule);
  content.type = static_cast<DocumentType>(fields.need_choice("type", document_type_names));
  content.body = read_body(fields);
  if (content.type == DocumentType::checkpoint) {
    content.sequence = fields.need_integer("sequence", sequence_rule);
  }
  if (content.type == DocumentType::schedule) {
    content.completed_execution =
        core::ExecutionId(fields.need_text("completed_execution_id", id_rule));
    content.next_due = read_time(fields, "next_due_at");
  }
  return content;
}

core::Document read_document(Fields& fields) {
  core::Document document;
  document.content = read_document_content(fields);
  document.revision = fields.need_integer("revision", revision_rule);
  document.lease_id = read_lease_id(fields);
  document.token = read_token(fields);
  document.execution = core::ExecutionId(read_optional_id(fields, "execution_id"));
  document.trace = core::TraceId(read_optional_id(fields, "trace_id"));
  document.accepted_at = read_time(fields, "accepted_at");
  return document;
}

}  // namespace starlease::ipc

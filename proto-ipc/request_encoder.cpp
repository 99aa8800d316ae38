// Requests on their way out; see the header.
#include "proto-ipc/request_encoder.hpp"

#include "lib/base/rfc3339.hpp"
#include "proto-ipc/document_json.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/message_id.hpp"
#include "proto-ipc/wire_names.hpp"

namespace starlease::ipc {
namespace {

using core::Milliseconds;

void write_text(JsonWriter& writer, std::string_view name, std::string_view value) {
  if (!value.empty()) writer.text(name, value);
}

void write_duration(JsonWriter& writer, std::string_view name,
                    const std::optional<Milliseconds>& duration) {
  if (duration) writer.number(name, duration->count());
}

/// Zero is the default.
void write_duration(JsonWriter& writer, std::string_view name, Milliseconds duration) {
  if (duration != Milliseconds(0)) writer.number(name, duration.count());
}

void write_deadline(JsonWriter& writer, const core::DeadlineRequest& deadline) {
  if (deadline.at) {
    writer.text("deadline_at", base::rfc3339_format(deadline.at->time_since_epoch().count()));
  }
  write_duration(writer, "timeout_ms", deadline.timeout);
}

template <class Call>
void write_lease(JsonWriter& writer, const Call& call) {
  writer.text("lease_id", call.lease_id.value)
      .number("fencing_token", call.token.value)
      .text("request_id", call.request_id.value);
  write_deadline(writer, call.deadline);
}

struct WriteCall {
  JsonWriter& writer;

  void operator()(const core::HelloCall& call) const {
    writer.number("protocol", call.protocol).text("client", call.client);
    write_text(writer, "credential", call.credential);
    write_text(writer, "service_instance_id", call.instance.value);
    write_text(writer, "resume", call.resume);
    if (!call.notify_renewed && !call.notify_backend) return;
    writer.array("notify");
    if (call.notify_renewed) writer.element("renewed");
    if (call.notify_backend) writer.element("backend");
    writer.end();
  }

  void operator()(const core::AcquireCall& call) const {
    const core::AcquireCall defaults;
    write_identity(writer, "identity", call.identity);
    writer.text("request_id", call.request_id.value);
    write_deadline(writer, call.deadline);
    write_duration(writer, "ttl_ms", call.ttl);
    write_duration(writer, "maximum_lifetime_ms", call.maximum_lifetime);
    write_duration(writer, "wait_ms", call.wait);
    write_duration(writer, "heartbeat_ms", call.heartbeat);
    write_text(writer, "execution_id", call.work.execution.value);
    write_text(writer, "job_id", call.work.job.value);
    write_text(writer, "trace_id", call.work.trace.value);
    if (call.metadata != defaults.metadata) writer.raw("metadata", call.metadata);
    if (call.renew != defaults.renew) {
      writer.text("renew", renew_mode_names[static_cast<std::size_t>(call.renew)]);
    }
    if (call.on_disconnect != defaults.on_disconnect) {
      writer.text("on_disconnect",
                  on_disconnect_names[static_cast<std::size_t>(call.on_disconnect)]);
    }
  }

  void operator()(const core::RenewCall& call) const {
    write_lease(writer, call);
    write_duration(writer, "ttl_ms", call.ttl);
  }

  void operator()(const core::ReleaseCall& call) const { write_lease(writer, call); }

  void operator()(const core::InspectCall& call) const {
    if (call.identity) write_identity(writer, "identity", *call.identity);
    if (call.lease_id) writer.text("lease_id", call.lease_id->value);
  }

  void operator()(const core::ResolveCall& call) const {
    writer.text("request_id", call.request_id.value).text("operation", core::name(call.operation));
    write_identity(writer, "identity", call.identity);
  }

  void operator()(const core::PingCall&) const {}
  void operator()(const core::GoodbyeCall&) const {}

  void operator()(const core::NamespaceCall& call) const {
    writer.text("action", namespace_action_names[static_cast<std::size_t>(call.action)]);
  }

  void operator()(const core::StatsCall&) const {}

  void operator()(const core::CommitCall& call) const {
    write_envelope(writer, "envelope", call.envelope);
    writer.text("request_id", call.request_id.value);
    write_deadline(writer, call.deadline);
    writer.object("write").text("kind", write_kind_names[call.write ? 1 : 0]);
    if (call.write) {
      write_document_content(writer, call.write->content);
      writer.number("expect_revision", call.write->expect_revision);
    }
    writer.end();
  }

  void operator()(const core::InvalidateCall& call) const {
    write_identity(writer, "identity", call.identity);
    writer.object("observed")
        .text("lease_id", call.lease_id.value)
        .number("fencing_token", call.token.value)
        .end();
    writer.text("request_id", call.request_id.value)
        .text("deadline_at", base::rfc3339_format(call.deadline_at.time_since_epoch().count()))
        .text(call.is_incident ? "incident_id" : "reason", call.reason);
    writer.object("signature").text("key_id", call.key_id).text("value", call.signature).end();
  }

  void operator()(const core::DocumentCall& call) const {
    write_identity(writer, "identity", call.identity);
    writer.text("name", call.name);
  }

  void operator()(const core::ListCall& call) const {
    writer.text("by", core::name(call.by));
    if (call.owner) writer.text("owner_principal_id", call.owner->value);
    for (std::size_t i = 0; i < core::component_count; ++i) {
      const auto& component = call.target.components[i];
      if (component) writer.text(core::component_names[i], *component);
    }
    write_page(call.page);
  }

  void operator()(const core::HistoryCall& call) const {
    write_identity(writer, "identity", call.identity);
    write_page(call.page);
  }

 private:
  void write_page(const core::PageRequest& page) const {
    if (page.size) writer.number("page_size", *page.size);
    if (page.cursor) writer.text("cursor", *page.cursor);
  }
};

}  // namespace

std::string encode_request(const RequestId& id, const core::Call& call) {
  JsonWriter writer;
  write_message_id(writer, id);
  writer.text("op", op_name(call));
  std::visit(WriteCall{writer}, call);
  return writer.finish();
}

}  // namespace starlease::ipc

// Audit events as JSON; see the header. Member names are those of the contract's record.
#include "daemon/audit/encode.hpp"

#include "lib/base/rfc3339.hpp"
#include "lib/core/canonical.hpp"

namespace starlease::audit {
namespace {

class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }

  Object& text(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    begin(name);
    core::append_json_string(out_, value);
    return *this;
  }
  Object& number(std::string_view name, std::int64_t value) {
    begin(name);
    out_ += std::to_string(value);
    return *this;
  }
  Object& flag(std::string_view name, bool value) {
    begin(name);
    out_ += value ? "true" : "false";
    return *this;
  }
  std::string& nested(std::string_view name) {
    begin(name);
    return out_;
  }
  void end() { out_ += '}'; }

 private:
  void begin(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    core::append_json_string(out_, name);
    out_ += ':';
  }
  std::string& out_;
  bool first_ = true;
};

void add_identity(Object& object, const core::LockIdentity& identity) {
  Object inner(object.nested("lock_identity"));
  for (std::size_t i = 0; i < core::component_count; ++i) {
    inner.text(core::component_names[i], identity.components[i]);
  }
  inner.end();
}

void add_lease(Object& object, const core::AuditEvent& event) {
  if (event.lease_id) object.text("lease_id", event.lease_id->value);
  if (event.token) object.number("fencing_token", event.token->value);
  if (event.requested_ttl) object.number("requested_ttl_ms", event.requested_ttl->count());
  if (event.effective_ttl) object.number("effective_ttl_ms", event.effective_ttl->count());
  if (event.resulting_state) object.text("resulting_state", core::name(*event.resulting_state));
}

}  // namespace

std::string encode(const core::AuditEvent& event) {
  std::string out;
  out.reserve(768);
  Object object(out);
  object.text("event_type", core::audit_type_names[static_cast<std::size_t>(event.type)])
      .text("at", base::rfc3339_format(event.at.time_since_epoch().count()))
      .number("latency_us", event.latency.count() / 1000)
      .text("code", event.code)
      .flag("retryable", event.retryable)
      .text("request_id", event.request_id.value)
      .text("correlation_id", event.correlation_id.value)
      .text("decision_id", event.decision_id.value)
      .text("execution_id", event.work.execution.value)
      .text("job_id", event.work.job.value)
      .text("trace_id", event.work.trace.value)
      .text("principal_class", event.principal_class)
      .text("principal_id", event.owner.principal.value)
      .text("client_id", event.owner.client.value)
      .text("credential_id", event.owner.credential.value)
      .text("service_instance_id", event.owner.instance.value)
      .text("reason", event.reason)
      .text("key_id", event.key_id);
  if (event.identity) add_identity(object, *event.identity);
  add_lease(object, event);
  object.end();
  return out;
}

}  // namespace starlease::audit

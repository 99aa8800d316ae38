// Results as text and as JSON; see the header.
#include "lib/cli/output.hpp"

#include <algorithm>
#include <cstdio>

#include "lib/cli/texts.hpp"
#include "lib/client/boot_clock.hpp"
#include "proto-ipc/json_writer.hpp"

namespace starlease::cli {
namespace {

using ipc::JsonWriter;

void write_identity(JsonWriter& writer, const Identity& identity) {
  writer.object("lock_identity")
      .text("tenant_id", identity.tenant_id)
      .text("program_id", identity.program_id)
      .text("target_namespace", identity.target_namespace)
      .text("target_id", identity.target_id)
      .text("actor_name", identity.actor_name)
      .text("workflow_name", identity.workflow_name)
      .text("operation_class", identity.operation_class)
      .end();
}

/// The members of a lease, into the object that is open.
void write_lease(JsonWriter& writer, const LeaseInfo& lease) {
  write_identity(writer, lease.identity);
  writer.text("lease_id", lease.lease_id)
      .number("fencing_token", lease.fencing_token)
      .text("acquired_at", to_rfc3339(lease.acquired_at))
      .text("renewed_at", to_rfc3339(lease.renewed_at))
      .text("expires_at", to_rfc3339(lease.expires_at))
      .number("ttl_ms", lease.ttl.count())
      .text("state", name(lease.state));
}

void write_success(JsonWriter& writer, std::string_view code) {
  writer.text("status", "success").text("code", code);
}

/// One line of a table for a person.
std::string row(std::string_view name, std::string_view value) {
  std::string line(name);
  line.resize(16, ' ');
  return line + std::string(value) + "\n";
}

void write_grant(JsonWriter& writer, std::string_view code, const Grant& grant) {
  write_success(writer, code);
  writer.object("lease");
  write_lease(writer, grant.lease);
  writer.end()
      .raw("envelope", grant.envelope_json)
      .number("valid_for_ms", valid_for_ms(grant))
      .number("valid_until_boottime_ns", grant.valid_until_boottime_ns)
      .flag("replayed", grant.replayed);
  if (grant.current_state) writer.text("current_state", name(*grant.current_state));
}

void write_released(JsonWriter& writer, const Released& released) {
  write_success(writer, "lease_released");
  writer.text("lease_id", released.lease_id)
      .number("fencing_token", released.fencing_token)
      .text("released_at", to_rfc3339(released.released_at))
      .flag("replayed", released.replayed);
}

void write_invalidated(JsonWriter& writer, const Invalidated& invalidated, Operation operation) {
  write_success(writer, operation == Operation::revoke ? "lease_revoked" : "lease_force_released");
  writer.text("lease_id", invalidated.lease_id)
      .number("fencing_token", invalidated.fencing_token)
      .text("ended_at", to_rfc3339(invalidated.ended_at))
      .flag("replayed", invalidated.replayed);
}

void write_commit(JsonWriter& writer, const Commit& commit) {
  write_success(writer, commit.revision > 0 ? "lease_committed" : "lease_commit_authorized");
  writer.text("accepted_at", to_rfc3339(commit.accepted_at))
      .number("fencing_token", commit.fencing_token);
  if (commit.revision > 0) writer.number("revision", commit.revision);
  writer.flag("replayed", commit.replayed);
  if (commit.current_state) writer.text("current_state", name(*commit.current_state));
}

/// The original answer of a resolved attempt.
struct ResolvedResult {
  JsonWriter& writer;
  std::string& text;
  Operation operation;
  void operator()(std::monostate) const {}
  void operator()(const Grant& grant) const {
    writer.object("result");
    write_grant(writer, operation == Operation::renew ? "lease_renewed" : "lease_acquired", grant);
    writer.end();
    text += lease_rows(grant.lease);
  }
  void operator()(const Released& released) const {
    writer.object("result");
    write_released(writer, released);
    writer.end();
    text += row("released", to_rfc3339(released.released_at));
  }
  void operator()(const Commit& commit) const {
    writer.object("result");
    write_commit(writer, commit);
    writer.end();
    text += row("accepted", to_rfc3339(commit.accepted_at));
  }
  void operator()(const Invalidated& invalidated) const {
    writer.object("result");
    write_invalidated(writer, invalidated, operation);
    writer.end();
    text += row("ended", to_rfc3339(invalidated.ended_at));
  }
  void operator()(const Error& error) const {
    writer.raw("result", error_json(error));
    text += row("refused", error.describe());
  }
};

/// The members of a lease with its end, into the object that is open.
void write_inspection(JsonWriter& writer, const Inspection& inspection) {
  write_lease(writer, inspection.lease);
  if (!inspection.ended_at) return;
  writer.text("ended_at", to_rfc3339(*inspection.ended_at))
      .text("end_reason", inspection.end_reason);
}

/// Lines of cells, each column as wide as its widest.
std::string table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      text += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
    }
    text += line.back() + "\n";
  }
  return text;
}

std::string say_more(bool more) { return more ? "there are more; raise --limit\n" : ""; }

void write_line(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  if (!text.ends_with('\n')) std::fputc('\n', file);
  std::fflush(file);
}

}  // namespace

std::int64_t valid_for_ms(const Grant& grant) {
  const client::Nanoseconds left(grant.valid_until_boottime_ns - client::boot_now_ns());
  return base::floor_ms(left).count();
}

std::string lease_rows(const LeaseInfo& lease) {
  return row("identity", format_identity(lease.identity)) + row("lease id", lease.lease_id) +
         row("fencing token", std::to_string(lease.fencing_token)) +
         row("state", name(lease.state)) + row("acquired", to_rfc3339(lease.acquired_at)) +
         row("renewed", to_rfc3339(lease.renewed_at)) +
         row("expires", to_rfc3339(lease.expires_at)) + row("ttl", format_duration(lease.ttl));
}

void Output::warn(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Output::print(const std::string& json, const std::string& text) const {
  write_line(stdout, json_ ? json : text);
}

void Output::pong(const Pong& pong, const SessionInfo& session) const {
  JsonWriter writer;
  write_success(writer, "pong");
  writer.text("backend", name(pong.backend))
      .number("boottime_ns", pong.boottime_ns)
      .text("server", session.server)
      .text("principal_id", session.principal_id);
  print(writer.finish(), row("daemon", session.server) + row("principal", session.principal_id) +
                             row("backend", name(pong.backend)));
}

void Output::grant(std::string_view code, const Grant& grant, const SessionInfo* session) const {
  JsonWriter writer;
  write_grant(writer, code, grant);
  const std::chrono::milliseconds left(std::max<std::int64_t>(0, valid_for_ms(grant)));
  std::string text = lease_rows(grant.lease) + row("valid for", format_duration(left));
  if (session != nullptr) {
    writer.text("service_instance_id", session->service_instance_id)
        .text("resume", session->resume);
    text += "to renew or release it:\n  export STARLEASE_INSTANCE=" + session->service_instance_id +
            " STARLEASE_RESUME=" + session->resume + "\n";
  }
  print(writer.finish(), text);
}

void Output::released(const Released& released) const {
  JsonWriter writer;
  write_released(writer, released);
  print(writer.finish(), row("released", released.lease_id) +
                             row("fencing token", std::to_string(released.fencing_token)) +
                             row("at", to_rfc3339(released.released_at)));
}

void Output::invalidated(const Invalidated& invalidated, Operation operation) const {
  JsonWriter writer;
  write_invalidated(writer, invalidated, operation);
  print(writer.finish(),
        row(operation == Operation::revoke ? "revoked" : "force-released", invalidated.lease_id) +
            row("fencing token", std::to_string(invalidated.fencing_token)) +
            row("at", to_rfc3339(invalidated.ended_at)));
}

void Output::commit(const Commit& commit) const {
  JsonWriter writer;
  write_commit(writer, commit);
  std::string text = row("accepted", to_rfc3339(commit.accepted_at)) +
                     row("fencing token", std::to_string(commit.fencing_token));
  if (commit.revision > 0) text += row("revision", std::to_string(commit.revision));
  print(writer.finish(), text);
}

void Output::document(const Document& document) const {
  const DocumentWrite& content = document.content;
  JsonWriter writer;
  write_success(writer, "lease_inspected");
  writer.object("document")
      .text("name", content.name)
      .text("type", name(content.type))
      .raw("body", content.body_json)
      .number("revision", document.revision)
      .text("lease_id", document.lease_id)
      .number("fencing_token", document.fencing_token)
      .text("execution_id", document.execution_id)
      .text("trace_id", document.trace_id)
      .text("accepted_at", to_rfc3339(document.accepted_at));
  std::string text = row("document", content.name) + row("type", name(content.type)) +
                     row("revision", std::to_string(document.revision)) +
                     row("accepted", to_rfc3339(document.accepted_at)) +
                     row("fencing token", std::to_string(document.fencing_token)) +
                     row("lease id", document.lease_id);
  if (content.type == DocumentType::checkpoint) {
    writer.number("sequence", content.sequence);
    text += row("sequence", std::to_string(content.sequence));
  }
  if (content.type == DocumentType::schedule) {
    writer.text("completed_execution_id", content.completed_execution_id)
        .text("next_due_at", to_rfc3339(content.next_due_at));
    text += row("completed", content.completed_execution_id) +
            row("next due", to_rfc3339(content.next_due_at));
  }
  writer.end();
  print(writer.finish(), text + content.body_json + "\n");
}

void Output::inspection(const Inspection& inspection) const {
  JsonWriter writer;
  write_success(writer, "lease_inspected");
  writer.object("lease");
  write_inspection(writer, inspection);
  std::string text = lease_rows(inspection.lease);
  if (inspection.ended_at) {
    text += row("ended", to_rfc3339(*inspection.ended_at)) + row("reason", inspection.end_reason);
  }
  writer.end();
  print(writer.finish(), text);
}

void Output::resolution(const Resolution& resolution, Operation operation) const {
  JsonWriter writer;
  write_success(writer, "lease_resolved");
  writer.text("outcome", resolution.committed ? "committed" : "not_found");
  std::string text = row("outcome", resolution.committed ? "committed" : "not found");
  std::visit(ResolvedResult{writer, text, operation}, resolution.result);
  if (resolution.current_state) {
    writer.text("current_state", name(*resolution.current_state));
    text += row("state now", name(*resolution.current_state));
  }
  print(writer.finish(), text);
}

void Output::leases(const std::vector<LeaseInfo>& leases, bool more) const {
  JsonWriter writer;
  write_success(writer, "lease_listed");
  writer.array("leases");
  std::vector<std::vector<std::string>> lines = {
      {"IDENTITY", "TOKEN", "ACQUIRED", "EXPIRES", "LEASE ID"}};
  for (const LeaseInfo& lease : leases) {
    writer.object_element();
    write_lease(writer, lease);
    writer.end();
    lines.push_back({format_identity(lease.identity), std::to_string(lease.fencing_token),
                     to_rfc3339(lease.acquired_at), to_rfc3339(lease.expires_at), lease.lease_id});
  }
  writer.end().flag("more", more);
  print(writer.finish(), table(lines) + say_more(more));
}

void Output::history(const std::vector<Inspection>& endings, bool more) const {
  JsonWriter writer;
  write_success(writer, "lease_history");
  writer.array("history");
  std::vector<std::vector<std::string>> lines = {
      {"ENDED", "STATE", "REASON", "TOKEN", "ACQUIRED", "LEASE ID"}};
  for (const Inspection& one : endings) {
    writer.object_element();
    write_inspection(writer, one);
    writer.end();
    lines.push_back({one.ended_at ? to_rfc3339(*one.ended_at) : "",
                     std::string(name(one.lease.state)), one.end_reason,
                     std::to_string(one.lease.fencing_token), to_rfc3339(one.lease.acquired_at),
                     one.lease.lease_id});
  }
  writer.end().flag("more", more);
  print(writer.finish(), table(lines) + say_more(more));
}

void Output::event(const Event& event) const {
  JsonWriter writer;
  writer.text("event", name(event.kind));
  std::string text(name(event.kind));
  if (!event.lease_id.empty()) {
    writer.text("lease_id", event.lease_id).number("fencing_token", event.fencing_token);
    text += " " + event.lease_id;
  }
  switch (event.kind) {
    case EventKind::lease_lost:
      writer.text("reason", name(event.reason));
      if (event.state) writer.text("state", name(*event.state));
      text += " reason=" + std::string(name(event.reason));
      break;
    case EventKind::lease_expiring:
      writer.number("remaining_ms", event.remaining.count());
      text += " remaining=" + format_duration(event.remaining);
      break;
    case EventKind::lease_renewed:
      writer.text("expires_at", to_rfc3339(event.expires_at));
      text += " expires=" + to_rfc3339(event.expires_at);
      break;
    case EventKind::backend_state:
    case EventKind::reconnected:
      writer.text("state", name(event.backend));
      text += " backend=" + std::string(name(event.backend));
      break;
    case EventKind::draining:
      writer.flag("restart", event.restart);
      text += event.restart ? " (it comes back)" : "";
      break;
    case EventKind::disconnected:
      break;
  }
  print(writer.finish(), text);
}

void Output::exit_codes() const {
  JsonWriter writer;
  writer.array("exit_codes");
  std::string text;
  for (const ExitCodeRow& code : exit_code_table) {
    const auto number = static_cast<std::int64_t>(code.code);
    writer.object_element()
        .number("exit_code", number)
        .text("name", code.name)
        .text("meaning", code.meaning)
        .end();
    std::string line = std::to_string(number);
    line.resize(5, ' ');
    line += code.name;
    line.resize(24, ' ');
    text += line + std::string(code.meaning) + "\n";
  }
  writer.end();
  print(writer.finish(), text);
}

std::string error_line(const Error& error, bool waited) {
  std::string line = "starlease: " + error.describe();
  const std::string_view what = advice(error.code, waited);
  if (!what.empty()) line += "; " + std::string(what);
  if (error.retry_after) line += " (retry after " + format_duration(*error.retry_after) + ")";
  if (!error.correlation_id.empty()) line += " [" + error.correlation_id + "]";
  return line;
}

std::string error_json(const Error& error) {
  JsonWriter writer;
  writer.text("status", "error")
      .text("code", name(error.code))
      .text("msg", error.message)
      .flag("retryable", error.retryable());
  if (!error.field.empty()) writer.text("field", error.field);
  if (error.retry_after) writer.number("retry_after_ms", error.retry_after->count());
  if (error.revision) writer.number("revision", *error.revision);
  if (!error.correlation_id.empty()) writer.text("correlation_id", error.correlation_id);
  return writer.finish();
}

ExitCode Output::failure(const Error& error, bool waited) const {
  write_line(stderr, error_line(error, waited));
  if (json_) write_line(stdout, error_json(error));
  return exit_code(error.code, waited);
}

}  // namespace starlease::cli

// Arguments in the order of lua/README.md; see the header.
#include "daemon/valkey/encode.hpp"

#include <algorithm>
#include <array>

#include "daemon/valkey/command.hpp"
#include "lib/base/crypto.hpp"

namespace starlease::valkey {
namespace {

/// Begins "FCALL starlease1_<name> 1 <gate>".
Command call(std::string_view verb, std::string_view function, const std::string& gate,
             std::size_t bytes) {
  Command command(verb, bytes);
  command.arg(function).arg(std::int64_t{1}).arg(gate);
  return command;
}

/// What the library keeps its indexes by.
void add_hashes(Command& out, const core::PrincipalId& owner, const core::ListFilter& of) {
  out.arg(core::index_hash(owner.value))
      .arg(core::index_hash(of.tenant_id, of.program_id))
      .arg(core::index_hash(of.target_namespace, of.target_id));
}

void add_owner(Command& out, const core::Owner& owner) {
  out.arg(owner.principal.value)
      .arg(owner.client.value)
      .arg(owner.credential.value)
      .arg(owner.instance.value);
}

void add_holder(Command& out, const store::Holder& holder) {
  out.arg(holder.digest.chars())
      .arg(holder.lease_id.value)
      .arg(holder.token.value)
      .arg(holder.owner.principal.value)
      .arg(holder.owner.instance.value);
}

/// Retentions must be positive; a policy of zero keeps for the shortest time there is.
std::int64_t at_least_one(core::Milliseconds duration) {
  return std::max<std::int64_t>(duration.count(), 1);
}

}  // namespace

std::string encode_acquire(const std::string& gate, const store::AcquireCommand& command,
                           std::int64_t deadline_ms) {
  Command out = call("FCALL", "starlease1_acquire", gate, 1024 + command.metadata.size());
  out.arg(command.digest.chars());
  for (const std::string& component : command.identity.components) out.arg(component);
  add_owner(out, command.owner);
  out.arg(command.candidate.value)
      .arg(command.ttl.count())
      .arg(command.maximum_lifetime.count())
      .arg(command.work.execution.value)
      .arg(command.work.job.value)
      .arg(command.work.trace.value)
      .arg(command.metadata)
      .arg(command.audit.request_id.value)
      .arg(command.idempotency.scope.value)
      .arg(base::as_chars(command.idempotency.digest))
      .arg(at_least_one(command.idempotency.retention))
      .arg(command.idempotency.refusal_retention.count())
      // As long as a replay can ask what has become of the lease.
      .arg(at_least_one(command.idempotency.retention));
  const auto& of = command.identity.components;
  add_hashes(out, command.owner.principal, {{}, {}, of[0], of[1], of[2], of[3]});
  out.arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg(deadline_ms)
      .arg(command.lock_delay.count());
  return std::move(out).finish();
}

std::string encode_renew_timed(const std::string& gate,
                               const std::vector<store::TimedRenewal>& renewals,
                               std::int64_t deadline_ms) {
  constexpr std::size_t bytes_each = 256;
  Command out = call("FCALL", "starlease1_renew", gate, 128 + renewals.size() * bytes_each);
  out.arg(deadline_ms).arg("");  // a batch has no one request to be correlated with
  for (const store::TimedRenewal& renewal : renewals) {
    add_holder(out, renewal.holder);
    out.arg(renewal.ttl.count()).arg(renewal.sequence);
  }
  return std::move(out).finish();
}

std::string encode_renew(const std::string& gate, const store::RenewCommand& command,
                         std::int64_t deadline_ms) {
  Command out = call("FCALL", "starlease1_renew_once", gate, 512);
  add_holder(out, command.holder);
  out.arg(command.ttl.count())
      .arg(command.audit.request_id.value)
      .arg(command.idempotency.scope.value)
      .arg(base::as_chars(command.idempotency.digest))
      .arg(at_least_one(command.idempotency.retention))
      .arg(command.idempotency.refusal_retention.count())
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg(deadline_ms);
  return std::move(out).finish();
}

std::string encode_release(const std::string& gate, const store::ReleaseCommand& command,
                           std::int64_t deadline_ms) {
  Command out = call("FCALL", "starlease1_release", gate, 512);
  add_holder(out, command.holder);
  out.arg(command.audit.request_id.value)
      .arg(command.idempotency.scope.value)
      .arg(base::as_chars(command.idempotency.digest))
      .arg(at_least_one(command.idempotency.retention))
      .arg(command.idempotency.refusal_retention.count())
      .arg(at_least_one(command.terminal_retention))
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg(deadline_ms);
  return std::move(out).finish();
}

std::string encode_commit(const std::string& gate, const store::CommitCommand& command,
                          std::int64_t deadline_ms) {
  static const core::DocumentWrite nothing;
  const core::DocumentWrite& write = command.write ? *command.write : nothing;
  const core::DocumentContent& content = write.content;
  Command out = call("FCALL", "starlease1_commit", gate, 1024 + content.body.size());
  out.arg(command.digest.chars()).arg(command.lease_id.value).arg(command.token.value);
  add_owner(out, command.writer);
  out.arg(core::unix_ms(command.envelope_expires_at))
      .arg(command.execution.value)
      .arg(command.trace.value)
      .arg(command.write ? "document" : "authorize")
      .arg(content.name)
      .arg(command.write ? core::name(content.type) : "")
      .arg(content.body)
      .arg(write.expect_revision)
      .arg(content.sequence)
      .arg(content.completed_execution.value)
      .arg(core::unix_ms(content.next_due))
      .arg(command.audit.request_id.value)
      .arg(command.idempotency.scope.value)
      .arg(base::as_chars(command.idempotency.digest))
      .arg(at_least_one(command.idempotency.retention))
      .arg(command.idempotency.refusal_retention.count())
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg(deadline_ms);
  return std::move(out).finish();
}

std::string encode_invalidate(const std::string& gate, const store::InvalidateCommand& command,
                              std::int64_t deadline_ms) {
  Command out = call("FCALL", "starlease1_invalidate", gate, 1024 + command.statement.size());
  out.arg(core::name(command.operation))
      .arg(command.digest.chars())
      .arg(command.lease_id.value)
      .arg(command.token.value)
      .arg(command.reason)
      .arg(command.statement)
      .arg(command.signature)
      .arg(command.key_id);
  add_owner(out, command.administrator);
  out.arg(command.audit.request_id.value)
      .arg(command.idempotency.scope.value)
      .arg(base::as_chars(command.idempotency.digest))
      .arg(at_least_one(command.idempotency.retention))
      .arg(command.idempotency.refusal_retention.count())
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg(deadline_ms);
  return std::move(out).finish();
}

std::string encode_document(const std::string& gate, const store::DocumentCommand& command) {
  Command out = call("FCALL_RO", "starlease1_document", gate, 256);
  out.arg(command.digest.chars()).arg(command.name);
  return std::move(out).finish();
}

std::string encode_list(const std::string& gate, const store::ListCommand& command) {
  Command out = call("FCALL_RO", "starlease1_list", gate, 512);
  const core::ListFilter& filter = command.filter;
  out.arg(core::name(filter.by))
      .arg(filter.owner.value)
      .arg(filter.tenant_id)
      .arg(filter.program_id)
      .arg(filter.target_namespace)
      .arg(filter.target_id);
  add_hashes(out, filter.owner, filter);
  out.arg(command.after).arg(static_cast<std::int64_t>(command.limit));
  return std::move(out).finish();
}

std::string encode_history(const std::string& gate, const store::HistoryCommand& command) {
  Command out = call("FCALL_RO", "starlease1_history", gate, 256);
  out.arg(command.digest.chars()).arg(command.before).arg(static_cast<std::int64_t>(command.limit));
  return std::move(out).finish();
}

std::string encode_inspect(const std::string& gate, const store::InspectCommand& command) {
  Command out = call("FCALL_RO", "starlease1_inspect", gate, 256);
  out.arg(command.digest.chars()).arg(command.lease_id ? command.lease_id->value : std::string());
  return std::move(out).finish();
}

std::string encode_resolve(const std::string& gate, const store::ResolveCommand& command) {
  Command out = call("FCALL_RO", "starlease1_resolve", gate, 256);
  out.arg(command.digest.chars()).arg(core::name(command.operation)).arg(command.scope.value);
  return std::move(out).finish();
}

std::string encode_sweep(const std::string& gate, const store::SweepCommand& command) {
  Command out = call("FCALL", "starlease1_sweep", gate, 128);
  out.arg(static_cast<std::int64_t>(command.limit)).arg(command.correlation_id.value);
  return std::move(out).finish();
}

std::string encode_gate_read(const std::string& gate) {
  return call("FCALL_RO", "starlease1_gate_read", gate, 128).finish();
}

std::string encode_gate_init(const std::string& gate, const PartitionKeys& keys,
                             const store::InitGateCommand& command) {
  Command out = call("FCALL", "starlease1_gate_init", gate, 256);
  out.arg(keys.name_space())
      .arg(std::int64_t{keys.count()})
      .arg(command.audit.request_id.value)
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg("");  // no principal: the daemon's own act
  return std::move(out).finish();
}

std::string encode_recover(const std::string& gate, const PartitionKeys& keys,
                           const store::RecoverCommand& command, std::int64_t wall_ms) {
  Command out = call("FCALL", "starlease1_recover", gate, 512);
  out.arg(command.observed)
      .arg(wall_ms)
      .arg(command.clock_tolerance.count())
      .arg(command.seen_token.value)
      .arg(command.grace == store::RecoveryGrace::ttl ? "ttl" : "none")
      .arg(command.least_grace.count())
      .arg(std::int64_t{command.keep_leases})
      .arg(command.seen_sequence)
      .arg(keys.name_space())
      .arg(std::int64_t{keys.count()})
      .arg(command.audit.request_id.value)
      .arg(command.audit.correlation_id.value)
      .arg(command.audit.decision_id.value)
      .arg(command.audit.principal_class)
      .arg("");
  return std::move(out).finish();
}

std::string encode_version() {
  return Command("FCALL_RO").arg("starlease1_version").arg(std::int64_t{0}).finish();
}

}  // namespace starlease::valkey

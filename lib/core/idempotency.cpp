// Idempotency scope and request digests; see the header.
#include "lib/core/idempotency.hpp"

#include "lib/base/base64url.hpp"
#include "lib/core/canonical.hpp"

namespace starlease::core {
namespace {

/// An absent duration differs from every present one.
std::int64_t count_or_absent(const std::optional<Milliseconds>& duration) {
  return duration ? duration->count() : -1;
}

CanonicalObject begin(Operation operation, const Owner& owner) {
  CanonicalObject object;
  object.add("operation", name(operation))
      .add("principal", owner.principal.value)
      .add("client", owner.client.value)
      .add("credential", owner.credential.value)
      .add("instance", owner.instance.value);
  return object;
}

RequestDigest digest_of(CanonicalObject&& object) {
  return base::sha256(std::move(object).finish());
}

}  // namespace

IdempotencyScope idempotency_scope(Operation operation, const LockDigest& digest,
                                   const PrincipalId& principal, const RequestId& request_id) {
  CanonicalObject object;
  object.add("operation", name(operation))
      .add("lock", base::base64url_encode(digest.bytes))
      .add("principal", principal.value)
      .add("request_id", request_id.value);
  return {base::base64url_encode(base::sha256(std::move(object).finish()))};
}

RequestDigest request_digest(const AcquireCall& call, const LockDigest& digest,
                             const Owner& owner) {
  auto object = begin(Operation::acquire, owner);
  object.add("lock", base::base64url_encode(digest.bytes))
      .add("ttl_ms", count_or_absent(call.ttl))
      .add("maximum_lifetime_ms", count_or_absent(call.maximum_lifetime))
      .add("wait_ms", call.wait.count())
      .add("heartbeat_ms", call.heartbeat.count())
      .add("execution_id", call.work.execution.value)
      .add("job_id", call.work.job.value)
      .add("trace_id", call.work.trace.value)
      .add("metadata", call.metadata)
      .add("renew", call.renew == RenewMode::manual)
      .add("on_disconnect", call.on_disconnect == OnDisconnect::keep);
  return digest_of(std::move(object));
}

RequestDigest request_digest(const RenewCall& call, const Owner& owner) {
  auto object = begin(Operation::renew, owner);
  object.add("lease_id", call.lease_id.value)
      .add("token", call.token.value)
      .add("ttl_ms", count_or_absent(call.ttl));
  return digest_of(std::move(object));
}

RequestDigest request_digest(const ReleaseCall& call, const Owner& owner) {
  auto object = begin(Operation::release, owner);
  object.add("lease_id", call.lease_id.value).add("token", call.token.value);
  return digest_of(std::move(object));
}

RequestDigest request_digest(const CommitCall& call, const Owner& owner) {
  auto object = begin(Operation::commit, owner);
  object.add("lease_id", call.envelope.lease_id.value)
      .add("token", call.envelope.token.value)
      .add("execution_id", call.envelope.execution.value)
      .add("trace_id", call.envelope.trace.value)
      .add("document", call.write.has_value());
  if (call.write) {
    const DocumentContent& content = call.write->content;
    object.add("name", content.name)
        .add("type", name(content.type))
        .add("body", content.body)
        .add("sequence", content.sequence)
        .add("completed_execution_id", content.completed_execution.value)
        .add("next_due_at", unix_ms(content.next_due))
        .add("expect_revision", call.write->expect_revision);
  }
  return digest_of(std::move(object));
}

RequestDigest request_digest(const InvalidateCall& call, std::string_view statement,
                             const Owner& owner) {
  auto object = begin(call.operation, owner);
  object.add("statement", statement);
  return digest_of(std::move(object));
}

}  // namespace starlease::core

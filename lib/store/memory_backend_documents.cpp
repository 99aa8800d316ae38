// Fenced writes over plain maps; see the header.
#include "lib/store/memory_backend.hpp"
#include "lib/store/memory_backend_answers.hpp"

namespace starlease::store {
namespace {

using core::LeaseState;

constexpr std::size_t documents_per_identity = 256;

/// True if the envelope is one that this lease's holder was given.
bool is_of(const core::LeaseRecord& record, const CommitCommand& command) {
  const core::Grant& grant = record.grant;
  return grant.lease_id == command.lease_id && grant.token == command.token &&
         record.owner.principal == command.writer.principal &&
         record.work.execution == command.execution && record.work.trace == command.trace &&
         command.envelope_expires_at > grant.acquired_at &&
         command.envelope_expires_at <= grant.acquired_at + record.maximum_lifetime;
}

}  // namespace

CommitResult MemoryBackend::refuse_commit(Partition& partition, const CommitCommand& command,
                                          const Head& head, Status status, LeaseState state,
                                          std::int64_t revision) {
  CommitResult result = refused<CommitResult>(head, status);
  result.revision = revision;
  if (Remembered* kept = remember(partition, command.idempotency, head, result, nullptr)) {
    kept->ended = state;
  }
  return result;
}

CommitResult MemoryBackend::commit(const CommitCommand& command) {
  Partition& partition = of(command.digest);
  Head head = begin(partition);
  if (head.status != Status::ok) return refused<CommitResult>(head, head.status);
  Slot& slot = partition.slots[command.digest];
  if (slot.corrupt) return refused<CommitResult>(head, Status::quarantined);
  CommitResult result;
  if (replay(partition, command.idempotency, &slot, head, result)) return result;
  const auto refuse = [&](Status status, LeaseState state, std::int64_t revision) {
    return refuse_commit(partition, command, head, status, state, revision);
  };
  if (!slot.record || !is_of(*slot.record, command)) {
    return refuse(Status::lost, LeaseState::active, 0);
  }
  const LeaseState state = effective(partition, *slot.record, head.now);
  if (state != LeaseState::active) return refuse(Status::lost, state, 0);
  if (command.token.value < slot.committed) return refuse(Status::lost, LeaseState::active, 0);
  if (command.write) {
    const auto current = slot.documents.find(command.write->content.name);
    const bool exists = current != slot.documents.end();
    const std::int64_t revision = exists ? current->second.revision : 0;
    const bool fits = command.write->expect_revision == revision &&
                      (!exists || may_follow(current->second.content, command.write->content));
    if (!fits) return refuse(Status::commit_conflict, LeaseState::active, revision);
    if (!exists && slot.documents.size() >= documents_per_identity) {
      return refused<CommitResult>(head, Status::full);
    }
    result.revision = revision + 1;
    slot.documents.insert_or_assign(
        command.write->content.name,
        core::Document{command.write->content, result.revision, command.token, command.lease_id,
                       command.execution, command.trace, head.now});
  }
  slot.committed = std::max(slot.committed, command.token.value);
  result.head = head;
  result.accepted_at = head.now;
  result.token = command.token;
  result.current_expires_at = slot.record->grant.expires_at;
  Remembered* kept = remember(partition, command.idempotency, head, result, &*slot.record);
  if (kept != nullptr) kept->acquire_scope = slot.acquire_scope;
  return result;
}

DocumentResult MemoryBackend::document(const DocumentCommand& command) {
  Partition& partition = of(command.digest);
  const Head head = begin(partition, false);
  if (head.status != Status::ok) return refused<DocumentResult>(head, head.status);
  const Slot& slot = partition.slots[command.digest];
  if (slot.corrupt) return refused<DocumentResult>(head, Status::quarantined);
  const auto found = slot.documents.find(command.name);
  if (found == slot.documents.end()) return refused<DocumentResult>(head, Status::not_found);
  DocumentResult result;
  result.head = head;
  result.document = found->second;
  return result;
}

}  // namespace starlease::store

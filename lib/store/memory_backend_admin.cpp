// What administrators do, over plain maps; see the header.
#include "lib/store/memory_backend.hpp"
#include "lib/store/memory_backend_answers.hpp"

namespace starlease::store {

using core::LeaseState;

InvalidateResult MemoryBackend::invalidate(const InvalidateCommand& command) {
  Partition& partition = of(command.digest);
  Head head = begin(partition);
  if (head.status != Status::ok) return refused<InvalidateResult>(head, head.status);
  Slot& slot = partition.slots[command.digest];
  if (slot.corrupt) return refused<InvalidateResult>(head, Status::quarantined);
  InvalidateResult result;
  if (replay(partition, command.idempotency, &slot, head, result)) return result;
  const bool seen = slot.record && slot.record->grant.lease_id == command.lease_id &&
                    slot.record->grant.token == command.token;
  const LeaseState state = seen ? effective(partition, *slot.record, head.now) : LeaseState::active;
  result.head = head;
  if (!seen || state != LeaseState::active) {
    result.head.status = Status::lost;
    Remembered* kept = remember(partition, command.idempotency, head, result, nullptr);
    if (kept != nullptr) kept->ended = state;
    return result;
  }
  const bool revokes = command.operation == core::Operation::revoke;
  const LeaseState ended = revokes ? LeaseState::revoked : LeaseState::released;
  end(partition, command.digest, ended, head.now, revokes ? "revoked" : "force_released");
  result.lease_id = command.lease_id;
  result.token = command.token;
  result.ended_at = head.now;
  if (Remembered* kept = remember(partition, command.idempotency, head, result, nullptr)) {
    kept->ended = ended;
  }
  notify(revokes ? NoticeKind::revoked : NoticeKind::force_released, partition.gate.partition,
         command.digest, command.lease_id);
  return result;
}

}  // namespace starlease::store

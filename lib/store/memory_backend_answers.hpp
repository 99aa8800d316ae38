// How the model keeps answers and gives them again, for each kind of result. For
// memory_backend*.cpp only.
#pragma once

#include <utility>

#include "lib/store/memory_backend.hpp"

namespace starlease::store {

template <class Result>
Result refused(Head head, Status status) {
  Result result;
  result.head = head;
  result.head.status = status;
  return result;
}

template <class Result>
bool MemoryBackend::replay(Partition& partition, const Idempotency& key, Slot* slot, Head& head,
                           Result& result) {
  const auto found = partition.remembered.find(key.scope.value);
  if (found == partition.remembered.end() || found->second.until <= head.now) return false;
  const Remembered& remembered = found->second;
  if (remembered.digest != key.digest) {
    result = refused<Result>(head, Status::idempotency_conflict);
    return true;
  }
  result = std::get<Result>(remembered.result);
  const Head first = result.head;
  result.head = head;
  result.head.status = first.status;
  result.head.retry_after = first.retry_after;
  result.head.replayed = true;
  if constexpr (requires { result.current_state; }) {
    if (first.status == Status::ok) {
      result.current_state = state_of(partition, slot, remembered, head.now);
      const bool active = result.current_state == core::LeaseState::active;
      result.current_expires_at = active ? slot->record->grant.expires_at : remembered.expires_at;
    }
  }
  return true;
}

template <class Result>
MemoryBackend::Remembered* MemoryBackend::remember(Partition& partition, const Idempotency& key,
                                                   const Head& head, Result result,
                                                   const core::LeaseRecord* record) {
  const bool done = result.head.status == Status::ok;
  const Milliseconds kept = done ? key.retention : key.refusal_retention;
  if (kept <= Milliseconds(0)) return nullptr;
  Remembered entry;
  entry.digest = key.digest;
  entry.result = std::move(result);
  entry.until = head.now + kept;
  if (record != nullptr) {
    entry.lease_id = record->grant.lease_id;
    entry.epoch = record->epoch;
    entry.expires_at = record->grant.expires_at;
  }
  return &partition.remembered.insert_or_assign(key.scope.value, std::move(entry)).first->second;
}

}  // namespace starlease::store

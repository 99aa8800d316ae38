// Lists and history over plain maps; see the header.
#include <algorithm>

#include "lib/store/memory_backend.hpp"
#include "lib/store/memory_backend_answers.hpp"

namespace starlease::store {
namespace {

/// As many entries of the history as one call looks through.
constexpr std::size_t entries_per_call = 200;

}  // namespace

ListResult MemoryBackend::list(const ListCommand& command) {
  Partition& partition = data_[command.partition];
  const Head head = begin(partition, false);
  if (head.status != Status::ok) return refused<ListResult>(head, head.status);
  // What nobody has ended yet stands in the index, whatever it is by now.
  std::map<std::string, const Slot*> indexed;
  for (const auto& [digest, slot] : partition.slots) {
    if (!slot.record || slot.record->state != core::LeaseState::active) continue;
    const core::LeaseRecord& record = *slot.record;
    if (!core::is_meant(command.filter, record.identity, record.owner.principal)) continue;
    std::string position = core::list_position(command.filter.by, record.identity, digest);
    if (position > command.after) indexed.emplace(std::move(position), &slot);
  }
  ListResult result;
  result.head = head;
  result.more = indexed.size() > command.limit;
  std::size_t looked_at = 0;
  for (const auto& [position, slot] : indexed) {
    if (++looked_at > command.limit) break;
    result.reached = position;
    const bool told =
        !slot->corrupt && effective(partition, *slot->record, head.now) == core::LeaseState::active;
    if (told) result.leases.push_back({position, slot->record->identity, slot->record->grant});
  }
  return result;
}

HistoryResult MemoryBackend::history(const HistoryCommand& command) {
  Partition& partition = of(command.digest);
  const Head head = begin(partition, false);
  if (head.status != Status::ok) return refused<HistoryResult>(head, head.status);
  const auto& all = partition.history;
  const std::uint64_t before = command.before.empty() ? UINT64_MAX : std::stoull(command.before);
  const auto newest = std::ranges::lower_bound(all, before, {}, &Evidence::number);
  const auto older = static_cast<std::size_t>(newest - all.begin());
  const std::size_t count = std::min(older, entries_per_call);
  HistoryResult result;
  result.head = head;
  std::size_t scanned = 0;
  while (scanned < count && result.records.size() < command.limit) {
    const Evidence& evidence = all[older - ++scanned];
    if (evidence.digest == command.digest) result.records.push_back(evidence.record);
  }
  const bool ended = scanned == count && count < entries_per_call;
  if (!ended) result.reached = std::to_string(all[older - scanned].number);
  return result;
}

}  // namespace starlease::store

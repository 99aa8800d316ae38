// The little that a daemon keeps on disk: how far it has seen each partition, and the key that
// makes resume tokens hold across a restart. design.md 4.
#pragma once

#include <cstdint>
#include <map>

#include "lib/base/crypto.hpp"
#include "lib/core/fencing_token.hpp"

namespace starlease::service {

/// The highest that this daemon has seen of a partition.
struct PartitionMemory {
  std::int64_t sequence = 0;
  core::FencingToken token;
  friend bool operator==(const PartitionMemory&, const PartitionMemory&) = default;
};

class LocalState {
 public:
  virtual ~LocalState() = default;
  /// The key of resume tokens; made at the first start, the same ever after.
  [[nodiscard]] virtual const base::MacKey& resume_key() const = 0;
  [[nodiscard]] virtual std::map<std::uint32_t, PartitionMemory> load() const = 0;
  /// Replaces what is kept, durably. False if it could not be written; the old state then stays.
  [[nodiscard]] virtual bool save(const std::map<std::uint32_t, PartitionMemory>& memory) = 0;
};

}  // namespace starlease::service

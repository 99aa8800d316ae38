// What a store tells unasked. Hints only: losing one costs time, never safety.
#pragma once

#include <cstdint>
#include <string>

#include "lib/core/lock_key.hpp"
#include "lib/core/record.hpp"

namespace starlease::store {

enum class NoticeKind : std::uint8_t { released, expired, force_released, revoked, recovered };

/// A lease ended somewhere (or, for `recovered`, a whole partition's did: digest and lease id
/// empty).
struct Notice {
  NoticeKind kind{};
  std::uint32_t partition = 0;
  core::LockDigest digest;
  core::LeaseId lease_id;
};

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  /// Commands can be submitted now (`up`), or the link is gone; pending commands have been
  /// completed as unknown or unavailable before.
  virtual void on_link(bool up) = 0;
  virtual void on_notice(const Notice& notice) = 0;
};

}  // namespace starlease::store

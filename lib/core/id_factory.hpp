// Makes the daemon's own identifiers: a prefix and 26 characters of Crockford base32 (48 bits of
// wall-clock milliseconds, then 80 random bits), so that they sort by time. Uniqueness rests on the
// random bits alone: a clock that steps only spoils the order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/random.hpp"
#include "lib/core/ids.hpp"
#include "lib/core/lock_key.hpp"
#include "lib/core/times.hpp"

namespace starlease::core {

class IdFactory {
 public:
  /// Both must outlive this object.
  IdFactory(base::Random& random, const base::Clock& clock) : random_(random), clock_(clock) {}

  [[nodiscard]] CorrelationId correlation() { return CorrelationId(make("corr_")); }
  [[nodiscard]] DecisionId decision() { return DecisionId(make("dec_")); }
  [[nodiscard]] ServiceInstanceId instance() { return ServiceInstanceId(make("instance_")); }
  [[nodiscard]] RequestId request() { return RequestId(make("request_")); }
  /// Opaque to callers. It ends in the lock's digest, so that a lease id alone finds its record
  /// without another index in the store.
  [[nodiscard]] LeaseId lease(const LockDigest& digest);

 private:
  std::string make(std::string_view prefix);
  base::Random& random_;
  const base::Clock& clock_;
};

/// The lock that a lease id belongs to; nothing if it is not one of ours.
[[nodiscard]] std::optional<LockDigest> lock_of(const LeaseId& lease_id);

}  // namespace starlease::core

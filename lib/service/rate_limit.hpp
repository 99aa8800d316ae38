// How many requests a principal may make: a token bucket each, so that one that floods the daemon
// takes nothing from the others. ipc.md `lease_rate_limited`.
#pragma once

#include <optional>
#include <unordered_map>

#include "lib/core/ids.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

class RateLimit {
 public:
  explicit RateLimit(const AdmissionSettings& bounds) : bounds_(bounds) {}

  /// Takes one request's token; nothing if there was one, else when there will be.
  [[nodiscard]] std::optional<Milliseconds> refuse(const core::PrincipalId& principal,
                                                   BootTime now);

 private:
  struct Bucket {
    double tokens = 0;
    BootTime filled_at;
  };
  const AdmissionSettings& bounds_;
  /// One for each configured principal at most.
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace starlease::service

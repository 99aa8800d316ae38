// Token buckets; see the header.
#include "lib/service/rate_limit.hpp"

#include <algorithm>

namespace starlease::service {

std::optional<Milliseconds> RateLimit::refuse(const core::PrincipalId& principal, BootTime now) {
  if (bounds_.requests_per_second == 0) return std::nullopt;
  const auto rate = static_cast<double>(bounds_.requests_per_second);
  // A second's worth may come at once.
  auto [at, is_new] = buckets_.try_emplace(principal.value, Bucket{rate, now});
  Bucket& bucket = at->second;
  const double seconds = std::chrono::duration<double>(now - bucket.filled_at).count();
  bucket.tokens = std::min(rate, bucket.tokens + seconds * rate);
  bucket.filled_at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::nullopt;
  }
  const double wait_ms = (1 - bucket.tokens) / rate * 1000;
  return Milliseconds(static_cast<std::int64_t>(wait_ms) + 1);
}

}  // namespace starlease::service

// Deadlines of requests; see the header.
#include "lib/service/call_context.hpp"

#include <algorithm>

namespace starlease::service {

std::optional<BootTime> deadline_of(const core::DeadlineRequest& asked,
                                    const core::LeasePolicy& policy, BootTime received_at,
                                    core::WallTime wall_now) {
  Milliseconds left = policy.default_timeout;
  if (asked.timeout) left = *asked.timeout;
  if (asked.at) left = *asked.at - wall_now;
  if (left <= Milliseconds(0)) return std::nullopt;
  return received_at + std::min(left, policy.maximum_timeout);
}

}  // namespace starlease::service

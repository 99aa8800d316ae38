// Statements; see the header.
#include "lib/core/invalidation.hpp"

#include <algorithm>

#include "lib/base/rfc3339.hpp"
#include "lib/core/canonical.hpp"
#include "lib/core/limits.hpp"

namespace starlease::core {

std::string statement_of(const InvalidateCall& call, const LockIdentity& identity) {
  CanonicalObject object;
  object.add("statement", "starlease-admin-1").add("operation", name(call.operation));
  for (std::size_t i = 0; i < component_count; ++i) {
    object.add(component_names[i], identity.components[i]);
  }
  object.add("lease_id", call.lease_id.value)
      .add("fencing_token", call.token.value)
      .add(call.is_incident ? "incident_id" : "reason", call.reason)
      .add("request_id", call.request_id.value)
      .add("deadline_at", base::rfc3339_format(call.deadline_at.time_since_epoch().count()));
  return std::move(object).finish();
}

bool is_reason(std::string_view text) {
  return !text.empty() && text.size() <= limits::reason_bytes &&
         std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
         });
}

}  // namespace starlease::core

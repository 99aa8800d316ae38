// One audit event as one line of JSON. What is absent is left out; nothing is added.
#pragma once

#include <string>

#include "lib/core/audit_event.hpp"

namespace starlease::audit {

/// The event as a compact JSON object, without a newline.
[[nodiscard]] std::string encode(const core::AuditEvent& event);

}  // namespace starlease::audit

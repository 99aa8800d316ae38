// The one JSON object that is passed through: checked against its bounds, rewritten compactly.
#pragma once

#include <string>

#include "lib/core/outcome.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::ipc {

/// The compact text of a metadata object: members in their order, numbers as written. Fails with
/// invalid_lease_request, field "metadata", beyond core::limits::metadata_{bytes,keys,depth}; keys
/// are counted at all depths together, and the object itself is depth 1.
[[nodiscard]] core::Outcome<std::string> compact_metadata(JsonValue value);

}  // namespace starlease::ipc

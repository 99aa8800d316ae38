// The JSON objects that are passed through (metadata, the body of a document): checked against
// their bounds, rewritten compactly.
#pragma once

#include <string>

#include "lib/core/limits.hpp"
#include "lib/core/outcome.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::ipc {

/// The bounds of such an object. Keys are counted at all depths together; the object itself is
/// depth 1.
struct ObjectRule {
  std::size_t most_bytes = 0;
  std::size_t most_keys = 0;
  std::size_t most_depth = 0;
};
inline constexpr ObjectRule metadata_rule{core::limits::metadata_bytes, core::limits::metadata_keys,
                                          core::limits::metadata_depth};
inline constexpr ObjectRule document_body_rule{core::limits::document_body_bytes, SIZE_MAX,
                                               core::limits::document_body_depth};

/// The compact text of an object: members in their order, numbers as written. Fails with
/// invalid_lease_request, field `name`, beyond the rule.
[[nodiscard]] core::Outcome<std::string> compact_object(JsonValue value, std::string_view name,
                                                        const ObjectRule& rule);

}  // namespace starlease::ipc

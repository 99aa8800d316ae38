// Metadata; see the header.
#include "proto-ipc/metadata.hpp"

#include <algorithm>

#include "lib/core/limits.hpp"

namespace starlease::ipc {
namespace {

std::size_t count_keys(JsonValue value) {
  std::size_t keys = 0;
  for (const JsonValue child : value.children()) {
    keys += (value.is_object() ? 1 : 0) + count_keys(child);
  }
  return keys;
}

std::size_t depth_of(JsonValue value) {
  if (!value.is_object() && !value.is_array()) return 0;
  std::size_t deepest = 0;
  for (const JsonValue child : value.children()) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

}  // namespace

core::Outcome<std::string> compact_metadata(JsonValue value) {
  namespace limits = core::limits;
  if (!value.is_object()) return core::invalid("metadata", "Send an object");
  if (depth_of(value) > limits::metadata_depth) {
    return core::invalid("metadata", "Nest metadata at most 4 deep");
  }
  if (count_keys(value) > limits::metadata_keys) {
    return core::invalid("metadata", "Send at most 64 keys of metadata");
  }
  std::string text;
  append_compact(text, value);
  if (text.size() > limits::metadata_bytes) {
    return core::invalid("metadata", "Send at most 4096 bytes of metadata");
  }
  return text;
}

}  // namespace starlease::ipc

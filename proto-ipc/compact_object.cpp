// Compact objects; see the header.
#include "proto-ipc/compact_object.hpp"

#include <algorithm>

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

core::Outcome<std::string> compact_object(JsonValue value, std::string_view name,
                                          const ObjectRule& rule) {
  const auto most = [name](std::size_t count, std::string_view of) {
    return core::invalid(name, "Send an object of at most " + std::to_string(count).append(of));
  };
  if (!value.is_object()) return core::invalid(name, "Send an object");
  if (depth_of(value) > rule.most_depth) return most(rule.most_depth, " levels");
  if (count_keys(value) > rule.most_keys) return most(rule.most_keys, " keys");
  std::string text;
  append_compact(text, value);
  if (text.size() > rule.most_bytes) return most(rule.most_bytes, " bytes as compact text");
  return text;
}

}  // namespace starlease::ipc

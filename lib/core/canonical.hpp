// The one writer of canonical JSON bytes: compact, members in the order given, UTF-8 unescaped but
// for what JSON demands. Only for bytes that are hashed or signed; there is no parser in the core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace starlease::core {

/// Appends `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);

/// A compact JSON array of strings: ["a","b"].
[[nodiscard]] std::string canonical_array(std::span<const std::string> items);

/// Collects what a digest covers. Each part is framed, so that neighbouring parts cannot flow into
/// each other.
class CanonicalObject {
 public:
  CanonicalObject& add(std::string_view name, std::string_view value);
  CanonicalObject& add(std::string_view name, std::int64_t value);
  /// The finished object: {"a":"x","b":1}. REQUIRES: called last.
  [[nodiscard]] std::string finish() &&;

 private:
  void begin_member(std::string_view name);
  std::string text_ = "{";
};

}  // namespace starlease::core

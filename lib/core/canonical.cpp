// Canonical JSON bytes; see the header.
#include "lib/core/canonical.hpp"

namespace starlease::core {

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string canonical_array(std::span<const std::string> items) {
  std::string text = "[";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ',';
    append_json_string(text, item);
  }
  text += ']';
  return text;
}

void CanonicalObject::begin_member(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  append_json_string(text_, name);
  text_ += ':';
}

CanonicalObject& CanonicalObject::add(std::string_view name, std::string_view value) {
  begin_member(name);
  append_json_string(text_, value);
  return *this;
}

CanonicalObject& CanonicalObject::add(std::string_view name, std::int64_t value) {
  begin_member(name);
  text_ += std::to_string(value);
  return *this;
}

std::string CanonicalObject::finish() && {
  text_ += '}';
  return std::move(text_);
}

}  // namespace starlease::core

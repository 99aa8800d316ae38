// Fields as text; see the header.
#include "daemon/log/fields.hpp"

#include "lib/base/utf8.hpp"
#include "lib/core/canonical.hpp"

namespace starlease::log {
namespace {

/// Bounded and valid UTF-8, so that a reader's parser is never broken by a value.
std::string shown(std::string_view value) {
  std::string text(value.substr(0, max_value_bytes));
  if (value.size() > max_value_bytes) text += "...";
  if (base::utf8_valid(text)) return text;
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return text;
}

bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void append_text_value(std::string& out, std::string_view value) {
  const std::string text = shown(value);
  is_plain(text) ? void(out += text) : core::append_json_string(out, text);
}

void append_json_value(std::string& out, std::string_view value) {
  core::append_json_string(out, shown(value));
}

template <class Append>
void append_value(std::string& out, const base::LogField& field, Append append) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    out += std::to_string(*number);
  } else {
    append(out, std::get<std::string_view>(field.value));
  }
}

}  // namespace

std::string as_text(std::string_view event, std::initializer_list<base::LogField> fields) {
  std::string out = "event=";
  append_text_value(out, event);
  for (const base::LogField& field : fields) {
    if (out.size() > max_fields_bytes - max_value_bytes) break;
    out += ' ';
    out += field.key;
    out += '=';
    append_value(out, field, append_text_value);
  }
  return out;
}

std::string as_json(std::string_view event, std::initializer_list<base::LogField> fields) {
  std::string out = "\"event\":";
  append_json_value(out, event);
  for (const base::LogField& field : fields) {
    if (out.size() > max_fields_bytes - max_value_bytes) break;
    out += ',';
    core::append_json_string(out, field.key);
    out += ':';
    append_value(out, field, append_json_value);
  }
  return out;
}

}  // namespace starlease::log

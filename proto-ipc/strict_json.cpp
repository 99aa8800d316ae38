// The strict reader; see the header. The only file that sees simdjson, in the subset that 3.0.1 and
// 3.12 share.
//
// On-demand parsing validates only what is read, and its values are views into a parser that is
// used again. So the whole document is walked at once into nodes of our own: every string is
// unescaped, every number and literal is checked against the grammar, every object's keys are
// compared.
#include "proto-ipc/strict_json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "lib/core/canonical.hpp"
#include "proto-ipc/limits.hpp"

namespace starlease::ipc {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view not_utf8 = "The payload is not valid UTF-8";
constexpr std::string_view not_json = "The payload is not valid JSON";
constexpr std::string_view not_object = "The payload is not a JSON object";
constexpr std::string_view repeated_key = "A key stands twice in one object of the payload";
constexpr std::string_view trailing = "Bytes follow the JSON object of the payload";
constexpr std::string_view too_deep = "The payload is nested too deeply";

/// Up to here all pairs of keys are compared, which is faster than sorting them.
constexpr std::size_t few_keys = 24;
/// Memory above these is given back before the next read.
constexpr std::size_t kept_bytes = std::size_t{512} << 10;
constexpr std::size_t kept_nodes = 8192;

constexpr std::string_view json_space = " \t\n\r";

std::string_view without_trailing_space(std::string_view token) {
  const auto last = token.find_last_not_of(json_space);
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits at the front; false if there is none.
bool take_digits(std::string_view& text) {
  const std::size_t before = text.size();
  while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  return text.size() < before;
}

/// The grammar of RFC 8259. Checked here, as simdjson's versions differ in what they make of
/// integers beyond 64 bits.
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('0')) {
    text.remove_prefix(1);
  } else if (!take_digits(text)) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

bool is_literal(std::string_view text, JsonType type) {
  if (type == JsonType::null) return text == "null";
  return text == "true" || text == "false";
}

}  // namespace

/// The memory of a reader and the walk that fills it. `error` is empty while all is well.
class JsonReader::Document {
 public:
  base::Result<JsonValue, std::string_view> read(std::string_view payload) {
    give_back();
    input_.assign(payload);
    input_.resize(payload.size() + simdjson::SIMDJSON_PADDING, ' ');
    nodes_.clear();
    error_ = {};
    walk(payload.size());
    if (!error_.empty()) return base::failed(error_);
    return JsonValue(nodes_.data());
  }

 private:
  void give_back() {
    if (parser_.capacity() > kept_bytes) parser_ = ondemand::parser();
    if (input_.capacity() > kept_bytes) std::string().swap(input_);
    if (nodes_.capacity() > kept_nodes) nodes_ = std::vector<JsonNode>();
    if (keys_.capacity() > kept_nodes) keys_ = std::vector<std::string_view>();
  }

  bool fail(std::string_view why) {
    if (error_.empty()) error_ = why;
    return false;
  }

  void walk(std::size_t size) {
    // Newer simdjson versions skip a byte order mark; it is not JSON.
    if (input_.starts_with("\xef\xbb\xbf")) {
      fail(not_json);
      return;
    }
    ondemand::document document;
    const auto error =
        parser_.iterate(simdjson::padded_string_view(input_.data(), size, input_.size()))
            .get(document);
    if (error) {
      fail(error == simdjson::UTF8_ERROR ? not_utf8 : not_json);
      return;
    }
    ondemand::object object;
    if (const auto wrong = document.get_object().get(object)) {
      fail(wrong == simdjson::INCORRECT_TYPE ? not_object : not_json);
      return;
    }
    if (!add_object({}, object, 1)) return;
    const char* location = nullptr;
    if (document.current_location().get(location) != simdjson::OUT_OF_BOUNDS) fail(trailing);
  }

  std::size_t add_node(std::string_view key, JsonType type, std::string_view text = {}) {
    nodes_.push_back({type, 1, key, text});
    return nodes_.size() - 1;
  }

  void close(std::size_t node) {
    nodes_[node].extent = static_cast<std::uint32_t>(nodes_.size() - node);
  }

  bool add_object(std::string_view key, ondemand::object object, std::size_t depth) {
    if (depth > nesting) return fail(too_deep);
    const std::size_t node = add_node(key, JsonType::object);
    std::size_t count = 0;
    for (auto result : object) {
      ondemand::field field;
      std::string_view name;
      if (std::move(result).get(field) != simdjson::SUCCESS) return fail(not_json);
      if (field.unescaped_key().get(name) != simdjson::SUCCESS) return fail(not_json);
      if (!add_value(name, field.value(), depth)) return false;
      ++count;
    }
    close(node);
    return keys_differ(node, count) || fail(repeated_key);
  }

  bool add_array(std::string_view key, ondemand::array array, std::size_t depth) {
    if (depth > nesting) return fail(too_deep);
    const std::size_t node = add_node(key, JsonType::array);
    for (auto result : array) {
      ondemand::value value;
      if (std::move(result).get(value) != simdjson::SUCCESS) return fail(not_json);
      if (!add_value({}, value, depth)) return false;
    }
    close(node);
    return true;
  }

  bool add_value(std::string_view key, ondemand::value value, std::size_t depth) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return fail(not_json);
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS) return fail(not_json);
      return add_object(key, object, depth + 1);
    }
    if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS) return fail(not_json);
      return add_array(key, array, depth + 1);
    }
    if (type == ondemand::json_type::string) {
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) return fail(not_json);
      add_node(key, JsonType::string, text);
      return true;
    }
    return add_scalar(key, value, type);
  }

  /// A number or literal by its token, which the parser passes over at the next step.
  bool add_scalar(std::string_view key, ondemand::value value, ondemand::json_type type) {
    const JsonType ours = type == ondemand::json_type::number    ? JsonType::number
                          : type == ondemand::json_type::boolean ? JsonType::boolean
                                                                 : JsonType::null;
    const std::string_view text = without_trailing_space(value.raw_json_token());
    const bool holds = ours == JsonType::number ? is_number(text) : is_literal(text, ours);
    if (!holds) return fail(not_json);
    add_node(key, ours, text);
    return true;
  }

  /// True if the keys of the object at `node`, which has `count` members, are all different.
  bool keys_differ(std::size_t node, std::size_t count) {
    const JsonValue object(&nodes_[node]);
    if (count <= few_keys) {
      std::array<std::string_view, few_keys> seen;
      std::size_t known = 0;
      for (const JsonValue member : object.children()) {
        const auto end = seen.begin() + static_cast<std::ptrdiff_t>(known);
        if (std::find(seen.begin(), end, member.key()) != end) return false;
        seen[known++] = member.key();
      }
      return true;
    }
    keys_.clear();
    for (const JsonValue member : object.children()) keys_.push_back(member.key());
    std::ranges::sort(keys_);
    return std::ranges::adjacent_find(keys_) == keys_.end();
  }

  ondemand::parser parser_;
  /// The payload and the padding behind it that the parser may read.
  std::string input_;
  std::vector<JsonNode> nodes_;
  std::vector<std::string_view> keys_;
  std::string_view error_;
};

JsonReader::JsonReader() : document_(std::make_unique<Document>()) {}
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;
JsonReader::~JsonReader() = default;

base::Result<JsonValue, std::string_view> JsonReader::read(std::string_view payload) {
  return document_->read(payload);
}

std::optional<std::string_view> JsonValue::string() const {
  if (type() != JsonType::string) return std::nullopt;
  return text();
}

std::optional<std::int64_t> JsonValue::integer() const {
  if (type() != JsonType::number) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text().data() + text().size();
  const auto result = std::from_chars(text().data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<bool> JsonValue::boolean() const {
  if (type() != JsonType::boolean) return std::nullopt;
  return text() == "true";
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  for (const JsonValue member : children()) {
    if (member.key() == key) return member;
  }
  return std::nullopt;
}

void append_compact(std::string& out, JsonValue value) {
  switch (value.type()) {
    case JsonType::null:
    case JsonType::boolean:
    case JsonType::number:
      out += value.text();
      return;
    case JsonType::string:
      core::append_json_string(out, value.text());
      return;
    case JsonType::array:
    case JsonType::object:
      break;
  }
  out += value.is_object() ? '{' : '[';
  bool first = true;
  for (const JsonValue child : value.children()) {
    if (!std::exchange(first, false)) out += ',';
    if (value.is_object()) {
      core::append_json_string(out, child.key());
      out += ':';
    }
    append_compact(out, child);
  }
  out += value.is_object() ? '}' : ']';
}

}  // namespace starlease::ipc

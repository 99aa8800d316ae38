// The one strict reader of JSON, on simdjson, which is seen in the .cpp only. It validates the
// whole payload before anything of it is used: also what will be refused or passed through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace starlease::ipc {

enum class JsonType : std::uint8_t { null, boolean, number, string, array, object };

/// A value and, behind it in memory, everything inside it. Made by JsonReader only.
struct JsonNode {
  JsonType type = JsonType::null;
  /// Nodes of this value, itself included: the next sibling stands so many further.
  std::uint32_t extent = 1;
  /// Name within its object, unescaped; empty in an array.
  std::string_view key;
  /// A string unescaped; a number or literal as written; nothing for arrays and objects.
  std::string_view text;
};

/// The members of an object or the elements of an array, in the order of the text.
class JsonChildren;

/// A value of the document that was read last. It refers to the reader's memory: whatever is kept
/// is copied before the next read.
class JsonValue {
 public:
  explicit JsonValue(const JsonNode* node) : node_(node) {}

  [[nodiscard]] JsonType type() const { return node_->type; }
  [[nodiscard]] std::string_view key() const { return node_->key; }
  /// As in JsonNode.
  [[nodiscard]] std::string_view text() const { return node_->text; }

  /// The text of a string; nothing for other types.
  [[nodiscard]] std::optional<std::string_view> string() const;
  /// A number written as an integer ("1", not "1.0" or "1e0") within 64 bits; nothing otherwise.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] bool is_object() const { return type() == JsonType::object; }
  [[nodiscard]] bool is_array() const { return type() == JsonType::array; }

  [[nodiscard]] JsonChildren children() const;
  /// The member of that name; nothing if there is none or this is no object.
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;

 private:
  const JsonNode* node_;
};

class JsonChildren {
 public:
  class Iterator {
   public:
    explicit Iterator(const JsonNode* node) : node_(node) {}
    [[nodiscard]] JsonValue operator*() const { return JsonValue(node_); }
    Iterator& operator++() {
      node_ += node_->extent;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const JsonNode* node_;
  };

  explicit JsonChildren(const JsonNode* parent) : parent_(parent) {}
  [[nodiscard]] Iterator begin() const { return Iterator(parent_ + 1); }
  [[nodiscard]] Iterator end() const { return Iterator(parent_ + parent_->extent); }

 private:
  const JsonNode* parent_;
};

inline JsonChildren JsonValue::children() const { return JsonChildren(node_); }

/// Reads one object after the other with the same memory.
class JsonReader {
 public:
  JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;
  ~JsonReader();

  /// The object that `payload` is; or the sentence that says why it is none: not UTF-8, not JSON,
  /// not an object, a key twice at any depth, bytes after the object, nested deeper than
  /// ipc::nesting. `payload` is copied first, so no byte behind it is read and it need not outlive
  /// the call. The value is valid until the next read.
  [[nodiscard]] base::Result<JsonValue, std::string_view> read(std::string_view payload);

 private:
  class Document;
  std::unique_ptr<Document> document_;
};

/// Appends `value` as compact JSON: members in their order, numbers as they were written.
void append_compact(std::string& out, JsonValue value);

}  // namespace starlease::ipc

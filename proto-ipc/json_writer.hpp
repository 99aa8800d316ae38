// Writes one JSON object with members in the order of the calls, compact, always valid UTF-8. A
// small wrapper, so that the library behind it (RapidJSON) is seen in the .cpp only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace starlease::ipc {

/// Begins with the outermost object open. Containers nest at most eight deep; misuse (an end too
/// many, a missing one, a name in an array) is an assertion. A name is given for members and left
/// out for elements.
class JsonWriter {
 public:
  JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  ~JsonWriter();

  /// Bytes that are not UTF-8 are written as question marks: nothing of ours holds any.
  JsonWriter& text(std::string_view name, std::string_view value);
  JsonWriter& number(std::string_view name, std::int64_t value);
  JsonWriter& flag(std::string_view name, bool value);
  JsonWriter& null(std::string_view name);
  /// REQUIRES: `json` is the text of one JSON value.
  JsonWriter& raw(std::string_view name, std::string_view json);

  JsonWriter& object(std::string_view name);
  JsonWriter& array(std::string_view name);
  /// Elements of the open array.
  JsonWriter& element(std::string_view value);
  JsonWriter& object_element();
  /// Closes the innermost object or array.
  JsonWriter& end();

  /// Bytes so far.
  [[nodiscard]] std::size_t size() const;
  /// Closes the outermost object and hands the text over. REQUIRES: all others are closed; called
  /// last.
  [[nodiscard]] std::string finish();

 private:
  struct Backend;
  std::unique_ptr<Backend> backend_;
};

}  // namespace starlease::ipc

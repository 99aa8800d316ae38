// The writer; see the header. RapidJSON's SAX writer escapes, places commas and checks the nesting.
#include "proto-ipc/json_writer.hpp"

#include <array>

#include "lib/base/assert.hpp"
#include "lib/base/utf8.hpp"

#define RAPIDJSON_ASSERT(condition) SL_ASSERT(condition)
#include <rapidjson/writer.h>

namespace starlease::ipc {
namespace {

constexpr std::size_t most_nesting = 9;
/// Most answers fit without growing.
constexpr std::size_t usual_bytes = 1024;

/// The output as RapidJSON wants it.
struct StringSink {
  using Ch = char;
  std::string text;
  void Put(char c) { text += c; }
  void Flush() {}
};

using Writer = rapidjson::Writer<StringSink>;

rapidjson::SizeType length(std::string_view text) {
  return static_cast<rapidjson::SizeType>(text.size());
}

/// An empty view may point nowhere, which RapidJSON takes for a mistake.
const char* start(std::string_view text) { return text.empty() ? "" : text.data(); }

/// `text` with each byte that stands outside of ASCII replaced.
std::string ascii_only(std::string_view text) {
  std::string kept(text);
  for (char& c : kept) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return kept;
}

}  // namespace

struct JsonWriter::Backend {
  StringSink sink;
  Writer writer{sink, nullptr, most_nesting};
  /// Whether each open container is an array.
  std::array<bool, most_nesting> is_array{};
  std::size_t depth = 0;

  void open(bool array) {
    SL_ASSERT(depth < most_nesting);
    is_array[depth++] = array;
    if (array) {
      writer.StartArray();
    } else {
      writer.StartObject();
    }
  }

  void close() {
    SL_ASSERT(depth > 0);
    if (is_array[--depth]) {
      writer.EndArray();
    } else {
      writer.EndObject();
    }
  }

  void name(std::string_view text) {
    SL_ASSERT(depth > 0 && !is_array[depth - 1]);
    writer.Key(start(text), length(text));
  }

  void string(std::string_view text) {
    if (base::utf8_valid(text)) {
      writer.String(start(text), length(text));
    } else {
      const std::string kept = ascii_only(text);
      writer.String(kept.data(), length(kept));
    }
  }
};

JsonWriter::JsonWriter() : backend_(std::make_unique<Backend>()) {
  backend_->sink.text.reserve(usual_bytes);
  backend_->open(false);
}

JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::text(std::string_view name, std::string_view value) {
  backend_->name(name);
  backend_->string(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view name, std::int64_t value) {
  backend_->name(name);
  backend_->writer.Int64(value);
  return *this;
}

JsonWriter& JsonWriter::flag(std::string_view name, bool value) {
  backend_->name(name);
  backend_->writer.Bool(value);
  return *this;
}

JsonWriter& JsonWriter::null(std::string_view name) {
  backend_->name(name);
  backend_->writer.Null();
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view name, std::string_view json) {
  backend_->name(name);
  // The type only tells RapidJSON where a name is due: any but a string will do for a value.
  backend_->writer.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  return *this;
}

JsonWriter& JsonWriter::object(std::string_view name) {
  backend_->name(name);
  backend_->open(false);
  return *this;
}

JsonWriter& JsonWriter::array(std::string_view name) {
  backend_->name(name);
  backend_->open(true);
  return *this;
}

JsonWriter& JsonWriter::element(std::string_view value) {
  SL_ASSERT(backend_->is_array[backend_->depth - 1]);
  backend_->string(value);
  return *this;
}

JsonWriter& JsonWriter::object_element() {
  SL_ASSERT(backend_->is_array[backend_->depth - 1]);
  backend_->open(false);
  return *this;
}

JsonWriter& JsonWriter::end() {
  SL_ASSERT(backend_->depth > 1);
  backend_->close();
  return *this;
}

std::size_t JsonWriter::size() const { return backend_->sink.text.size(); }

std::string JsonWriter::finish() {
  SL_ASSERT(backend_->depth == 1);
  backend_->close();
  return std::move(backend_->sink.text);
}

}  // namespace starlease::ipc

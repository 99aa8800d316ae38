// Documents as JSON objects, written and read; for requests and answers alike.
#pragma once

#include <string_view>

#include "lib/core/document.hpp"
#include "proto-ipc/fields.hpp"
#include "proto-ipc/json_writer.hpp"

namespace starlease::ipc {

inline constexpr IntegerRule revision_rule{0, core::limits::maximum_token};

/// The members that a writer gives, into the object that is open.
void write_document_content(JsonWriter& writer, const core::DocumentContent& content);
/// One member: the document as stored.
void write_document(JsonWriter& writer, std::string_view name, const core::Document& document);

/// From the object that `fields` reads; what the document's type does not have stays unread.
[[nodiscard]] core::DocumentContent read_document_content(Fields& fields);
[[nodiscard]] core::Document read_document(Fields& fields);

}  // namespace starlease::ipc

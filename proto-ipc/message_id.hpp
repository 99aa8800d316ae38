// The member `id` as JSON, for the two encoders that begin with it.
#pragma once

#include "proto-ipc/json_writer.hpp"
#include "proto-ipc/request.hpp"

namespace starlease::ipc {

/// Writes the member; null where there is no id.
inline void write_message_id(JsonWriter& writer, const RequestId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) {
    writer.number("id", *number);
  } else if (const auto* text = std::get_if<std::string>(&id)) {
    writer.text("id", *text);
  } else {
    writer.null("id");
  }
}

}  // namespace starlease::ipc

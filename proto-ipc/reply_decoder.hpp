// Payload -> answer or event: the client's side. As strict as the request decoder about JSON, types
// and the closed sets (codes, states, reasons), but members that it does not know are passed over,
// so that a newer daemon can add some (PROTOCOL.md section 9).
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "proto-ipc/frame.hpp"
#include "proto-ipc/request.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::ipc {

/// An answer, with the id of the request it belongs to.
struct Reply {
  RequestId id;
  core::CorrelationId correlation;
  core::Outcome<core::Answer> outcome;
};

/// An event of a kind that this version does not know; to be ignored.
struct UnknownEvent {
  std::string name;
};

using Message = std::variant<Reply, core::Event, UnknownEvent>;

/// Decodes messages one after the other; keeps the parser's memory, nothing of the messages.
class ReplyDecoder {
 public:
  /// The error says what this side does not understand; the connection is of no more use then.
  /// The result owns all it holds.
  [[nodiscard]] base::Result<Message, FrameError> decode(std::string_view payload);

 private:
  JsonReader reader_;
};

/// The same with a decoder of the calling thread's own.
[[nodiscard]] base::Result<Message, FrameError> decode_message(std::string_view payload);

}  // namespace starlease::ipc

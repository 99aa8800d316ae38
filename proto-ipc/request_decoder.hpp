// Payload -> Request. Strict: every byte is validated, every member is known, nothing is coerced.
// ipc.md; PROTOCOL.md sections 4 and 5.
#pragma once

#include <string_view>
#include <variant>

#include "proto-ipc/frame.hpp"
#include "proto-ipc/request.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::ipc {

/// A well-formed object that is not a valid request: the connection stays. The failure is
/// invalid_lease_request with its field; `id` is the request's, or nothing if that is what is
/// wrong.
struct RefusedRequest {
  RequestId id;
  core::Failure failure;
};

using DecodedRequest = std::variant<Request, FrameError, RefusedRequest>;

/// Decodes requests one after the other; keeps the parser's memory, nothing of the requests.
class RequestDecoder {
 public:
  /// `admin`: the operations are those of the admin socket (hello, inspect, resolve, ping, goodbye,
  /// namespace, stats), otherwise those of the worker socket. Shapes only: protocol version, TTL
  /// policy and the identity's alphabet are the service's to judge. The result owns all it holds.
  [[nodiscard]] DecodedRequest decode(std::string_view payload, bool admin);

 private:
  JsonReader reader_;
};

}  // namespace starlease::ipc

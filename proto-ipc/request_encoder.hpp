// core::Call -> payload: the client's side. What request_decoder reads, member for member.
#pragma once

#include <string>

#include "proto-ipc/request.hpp"

namespace starlease::ipc {

/// The payload of a request. Members that have their default are left out. REQUIRES: `call` holds
/// what the decoder would accept: UTF-8, bounded ids, metadata that is the text of a JSON object.
[[nodiscard]] std::string encode_request(const RequestId& id, const core::Call& call);
[[nodiscard]] inline std::string encode_request(std::int64_t id, const core::Call& call) {
  return encode_request(RequestId(id), call);
}

}  // namespace starlease::ipc

// One request as it stands on the wire: what its answer is matched by, and the typed call.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "lib/core/calls.hpp"

namespace starlease::ipc {

/// The member `id` of a request and of its answer. Nothing (null on the wire) in the answer to a
/// request whose id could not be read. Not the domain's core::RequestId, which names an attempt.
using RequestId = std::variant<std::monostate, std::int64_t, std::string>;

struct Request {
  RequestId id;
  core::Call call;
};

}  // namespace starlease::ipc

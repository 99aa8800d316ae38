// What must hold before a call can be encoded at all: everything else is the daemon's to judge,
// with an answer, but text that is not UTF-8 or metadata that is no JSON would break the
// connection.
#pragma once

#include <optional>

#include <starlease/error.hpp>

#include "lib/core/calls.hpp"

namespace starlease::client {

/// The refusal (invalid_lease_request with its field), or nothing where `call` can be sent.
[[nodiscard]] std::optional<Error> check_call(const core::Call& call);

}  // namespace starlease::client

// Outcome -> payload of the answer: the daemon's side. ipc.md "Common fields" and operations.
#pragma once

#include <cstddef>
#include <string>

#include "proto-ipc/limits.hpp"
#include "proto-ipc/request.hpp"

namespace starlease::ipc {

/// The payload of the answer to the request `id`. Never longer than `max_frame_bytes` (at least 16
/// KiB): of the partitions of a namespace only those are listed that fit, and it says how many not.
[[nodiscard]] std::string encode_response(const RequestId& id,
                                          const core::CorrelationId& correlation,
                                          const core::Outcome<core::Answer>& outcome,
                                          std::size_t max_frame_bytes = default_max_frame_bytes);

}  // namespace starlease::ipc

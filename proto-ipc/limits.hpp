// Bounds of the wire with their reasons. The domain's own bounds are in lib/core/limits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/core/limits.hpp"

namespace starlease::ipc {

/// The length before each payload.
inline constexpr std::size_t frame_header_bytes = 4;
/// Largest payload unless configured (ipc.md); room for a document of 128 KiB with its envelope.
inline constexpr std::size_t default_max_frame_bytes = 262'144;
/// `id` as a string: enough for a UUID with a prefix; it is echoed, so it is kept while a call
/// waits.
inline constexpr std::size_t message_id_bytes = 64;
/// `client`, which ends up in logs.
inline constexpr std::size_t client_name_bytes = 128;
/// `credential` and `resume`.
inline constexpr std::size_t credential_bytes = 1024;
/// `lease_id`: a prefix, a sortable serial and a digest, with room to grow.
inline constexpr std::size_t lease_id_bytes = 128;
/// Deeper payloads are not read at all; reading is recursive, so this bounds the stack. Metadata,
/// the deepest thing that is asked for, ends far above (core::limits::metadata_depth).
inline constexpr std::size_t nesting = 512;
/// Ten years. Longer durations mean the same as this one, and sums of nanoseconds stay exact.
inline constexpr std::int64_t longest_duration_ms = 3650LL * 86'400'000;

static_assert(core::limits::metadata_bytes + 8 * core::limits::raw_component_bytes <
              default_max_frame_bytes);
static_assert(core::limits::largest_lifetime.count() < longest_duration_ms);

}  // namespace starlease::ipc

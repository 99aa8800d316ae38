// The closed set of codes on the wire: success codes here, refusals in lib/core/outcome.hpp.
// ipc.md "Common fields".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/core/calls.hpp"

namespace starlease::ipc {

enum class SuccessCode : std::uint8_t {
  hello,
  pong,
  goodbye,
  lease_acquired,
  lease_renewed,
  lease_released,
  lease_inspected,
  lease_resolved,
  lease_committed,
  lease_commit_authorized,
  lease_listed,
  lease_history,
  lease_force_released,
  lease_revoked,
};

/// The one code of a connection that is about to be closed.
inline constexpr std::string_view invalid_frame = "invalid_frame";

[[nodiscard]] std::string_view name(SuccessCode code);
/// The code under which an answer is told. The namespace's and the counters are inspected too.
[[nodiscard]] SuccessCode code_of(const core::Answer& answer);

/// The code of that name; nothing for any other text.
[[nodiscard]] std::optional<SuccessCode> parse_success_code(std::string_view text);
[[nodiscard]] std::optional<core::FailureCode> parse_failure_code(std::string_view text);

}  // namespace starlease::ipc

// Names of members, enums and operations, where both directions need the same.
#pragma once

#include <array>
#include <string_view>

#include "lib/core/calls.hpp"
#include "lib/core/state.hpp"

namespace starlease::ipc {

/// The names of the first `N` values of an enum that has a name().
template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::array<std::string_view, N> names_of() {
  std::array<std::string_view, N> names{};
  for (std::size_t i = 0; i < N; ++i) names[i] = name(static_cast<Enum>(i));
  return names;
}

inline constexpr auto state_names = names_of<core::LeaseState, 4>();
inline constexpr auto backend_state_names = names_of<core::BackendState, 3>();
inline constexpr auto loss_reason_names = names_of<core::LossReason, 10>();
inline constexpr auto resolvable_names = names_of<core::Operation, 6>();
inline constexpr auto list_by_names = names_of<core::ListBy, 3>();
inline constexpr auto document_type_names = names_of<core::DocumentType, 5>();

inline constexpr std::array<std::string_view, 2> renew_mode_names = {"auto", "manual"};
inline constexpr std::array<std::string_view, 2> on_disconnect_names = {"release", "keep"};
inline constexpr std::array<std::string_view, 2> namespace_action_names = {"status", "init"};
inline constexpr std::array<std::string_view, 2> write_kind_names = {"authorize", "document"};
inline constexpr std::array<std::string_view, 2> resolve_outcome_names = {"not_found", "committed"};

/// Names of operations, in the order of core::Call's alternatives; the last one has two, of which
/// op_name() takes the call's.
inline constexpr std::array<std::string_view, 16> operation_names = {
    "hello",     "acquire", "renew",  "release",  "inspect", "resolve", "ping",          "goodbye",
    "namespace", "stats",   "commit", "document", "list",    "history", "force_release", "revoke"};
static_assert(operation_names.size() == std::variant_size_v<core::Call> + 1);

[[nodiscard]] inline std::string_view op_name(const core::Call& call) {
  const auto* invalidate = std::get_if<core::InvalidateCall>(&call);
  return invalidate != nullptr ? core::name(invalidate->operation) : operation_names[call.index()];
}

}  // namespace starlease::ipc

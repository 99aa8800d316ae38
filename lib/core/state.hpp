// The externally observable states of a lease and the transitions between them, as data.
// Contract, table of transitions: nothing leads from a terminal state back to active.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace starlease::core {

enum class LeaseState : std::uint8_t { active, expired, released, revoked };

/// What can happen to an active lease.
enum class LeaseEventKind : std::uint8_t { renew, release, expire, force_release, revoke, recover };

struct TransitionRow {
  LeaseState from;
  LeaseEventKind event;
  LeaseState to;
};

/// Every allowed transition of an existing lease; a pair that is not here changes nothing.
inline constexpr std::array<TransitionRow, 6> transitions = {{
    {LeaseState::active, LeaseEventKind::renew, LeaseState::active},
    {LeaseState::active, LeaseEventKind::release, LeaseState::released},
    {LeaseState::active, LeaseEventKind::expire, LeaseState::expired},
    {LeaseState::active, LeaseEventKind::force_release, LeaseState::released},
    {LeaseState::active, LeaseEventKind::revoke, LeaseState::revoked},
    {LeaseState::active, LeaseEventKind::recover, LeaseState::revoked},
}};

/// The state after `event`, or nothing where the contract has no such transition.
[[nodiscard]] constexpr std::optional<LeaseState> next_state(LeaseState from,
                                                             LeaseEventKind event) {
  for (const TransitionRow& row : transitions) {
    if (row.from == from && row.event == event) return row.to;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view name(LeaseState state) {
  constexpr std::array<std::string_view, 4> names = {"active", "expired", "released", "revoked"};
  return names[static_cast<std::size_t>(state)];
}

[[nodiscard]] constexpr std::optional<LeaseState> parse_lease_state(std::string_view text) {
  for (auto state :
       {LeaseState::active, LeaseState::expired, LeaseState::released, LeaseState::revoked}) {
    if (name(state) == text) return state;
  }
  return std::nullopt;
}

}  // namespace starlease::core

// What a worker is told unasked. ipc.md "Events".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "lib/core/record.hpp"

namespace starlease::core {

enum class LossReason : std::uint8_t {
  expired,
  renewal_rejected,
  backend_unavailable,
  maximum_lifetime,
  heartbeat_missed,
  released,
  force_released,
  revoked,
  recovered,
  shutdown,
};

[[nodiscard]] constexpr std::string_view name(LossReason reason) {
  constexpr std::array<std::string_view, 10> names = {
      "expired",          "renewal_rejected", "backend_unavailable", "maximum_lifetime",
      "heartbeat_missed", "released",         "force_released",      "revoked",
      "recovered",        "shutdown"};
  return names[static_cast<std::size_t>(reason)];
}

/// Sent exactly once per lease, before anything else is handled for it.
struct LeaseLost {
  LeaseId lease_id;
  FencingToken token;
  LockIdentity identity;
  LossReason reason{};
  /// The terminal state where it is known.
  std::optional<LeaseState> state;
  WallTime detected_at;
  /// What is left of local validity; negative if the loss was noticed late.
  Milliseconds valid_for{};
};

/// The maximum lifetime will end it; sent once.
struct LeaseExpiring {
  LeaseId lease_id;
  FencingToken token;
  Milliseconds remaining{};
};

/// A renewal succeeded; only for sessions that asked.
struct LeaseRenewedNotice {
  LeaseId lease_id;
  FencingToken token;
  BackendTime expires_at;
  Milliseconds valid_for{};
  /// The same instant on CLOCK_BOOTTIME: a worker that reads the notice late must not trust
  /// valid_for. On the wire: valid_until_boottime_ns.
  BootTime valid_until{};
};

enum class BackendState : std::uint8_t { ready, recovering, unavailable };

[[nodiscard]] constexpr std::string_view name(BackendState state) {
  constexpr std::array<std::string_view, 3> names = {"ready", "recovering", "unavailable"};
  return names[static_cast<std::size_t>(state)];
}

/// The store's state changed; only for sessions that asked.
struct BackendStateChanged {
  BackendState state{};
};

/// The daemon is going down.
struct Draining {
  bool restart = false;
};

/// The connection broke the framing and is about to be closed.
struct ProtocolError {
  std::string message;
};

using Event = std::variant<LeaseLost, LeaseExpiring, LeaseRenewedNotice, BackendStateChanged,
                           Draining, ProtocolError>;

}  // namespace starlease::core

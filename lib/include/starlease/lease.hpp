// A lease as its holder sees it: who it is for, how long it may still be relied on, and whether it
// is lost. Made by Client only. Needs C++20; throws nothing of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <starlease/error.hpp>

namespace starlease {

namespace client {
struct HeldLease;
}

/// A time of the backend's clock, which decides expiry. It cannot be compared with the host's
/// clocks: use Lease::valid() for that.
using BackendTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// RFC 3339, UTC, milliseconds: "2026-08-05T12:00:00.000Z".
[[nodiscard]] std::string to_rfc3339(BackendTime time);

/// What is locked: the tuple that names mutually exclusive work. The daemon normalizes it, so that
/// answers may differ from the request in case and white space.
struct Identity {
  std::string tenant_id;
  std::string program_id;
  std::string target_namespace;
  std::string target_id;
  std::string actor_name;
  std::string workflow_name = "default";
  std::string operation_class = "default";
  friend bool operator==(const Identity&, const Identity&) = default;
};

enum class LeaseState : std::uint8_t { active, expired, released, revoked };
[[nodiscard]] std::string_view name(LeaseState state) noexcept;

/// A lease as the daemon describes it.
struct LeaseInfo {
  Identity identity;
  std::string lease_id;
  /// Strictly greater with each new acquisition of the identity; 1 .. 2^53-1. Pass it on with every
  /// write, so that the receiver can refuse a lower one.
  std::int64_t fencing_token = 0;
  BackendTime acquired_at;
  BackendTime renewed_at;
  BackendTime expires_at;
  /// The effective TTL; may be lower than asked for.
  std::chrono::milliseconds ttl{};
  LeaseState state = LeaseState::active;
};

/// What an acquisition or a renewal granted.
struct Grant {
  LeaseInfo lease;
  /// The dispatch envelope as compact JSON, to be sent along with the work.
  std::string envelope_json;
  /// Up to here the holder may rely on the lease: nanoseconds of CLOCK_BOOTTIME on this host.
  std::int64_t valid_until_boottime_ns = 0;
  /// True where the answer repeats that of an earlier request with the same request id.
  bool replayed = false;
  /// With `replayed`: what has become of the lease since.
  std::optional<LeaseState> current_state;
};

/// Why a lease was lost. All but the last are told by the daemon.
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
  /// The connection closed and the session could not be resumed while the lease was valid.
  connection_lost,
};
[[nodiscard]] std::string_view name(LossReason reason) noexcept;

/// A loss, told once for each lease.
struct Loss {
  std::string lease_id;
  std::int64_t fencing_token = 0;
  LossReason reason{};
  /// The terminal state where it is known.
  std::optional<LeaseState> state;
};

/// A held lease. Releases itself when it is destroyed. Not thread-safe: it belongs to the thread of
/// the Client that made it. May outlive that Client; it is lost then.
///
/// valid() and valid_for() cost one read of CLOCK_BOOTTIME, which also advances while the machine
/// is suspended. They are true only up to the instant that the daemon gave, whatever has happened
/// to the connection; news that shorten it (a revocation, say) are taken in by Client::process().
class Lease {
 public:
  /// Called once when the lease is lost, from inside Client::process() or a blocking call of that
  /// Client. It may use the Client and destroy the Lease, but not destroy the Client.
  using OnLost = std::function<void(const Loss&)>;

  /// Holds nothing: never valid.
  Lease() noexcept;
  Lease(Lease&& other) noexcept;
  /// Releases what this one held.
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Sends the release and does not wait for the answer; Client::release() does.
  ~Lease();

  /// True if this object stands for a lease, valid or lost.
  [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }
  /// True while the work that the lease covers may go on.
  [[nodiscard]] bool valid() const noexcept;
  /// What is left of that; zero where valid() is false.
  [[nodiscard]] std::chrono::nanoseconds valid_for() const noexcept;
  /// The instant at which valid() ends unless the lease is renewed: nanoseconds of CLOCK_BOOTTIME.
  [[nodiscard]] std::int64_t valid_until_boottime_ns() const noexcept;

  /// True once the loss has been noticed by Client::process(). A lease that is not lost may still
  /// be invalid for a while: the connection broke and is being restored.
  [[nodiscard]] bool lost() const noexcept;
  /// The loss, where lost().
  [[nodiscard]] std::optional<Loss> loss() const;
  /// Sets the callback for the loss; if the lease is lost already, process() calls it next.
  void on_lost(OnLost callback);

  [[nodiscard]] const std::string& id() const noexcept;
  /// The fencing token; 0 where this object holds nothing.
  [[nodiscard]] std::int64_t token() const noexcept;
  /// The lease as last told: expires_at follows the renewals.
  [[nodiscard]] const Grant& grant() const noexcept;
  /// The dispatch envelope as compact JSON.
  [[nodiscard]] const std::string& envelope_json() const noexcept;

  /// Gives the lease up without releasing it; this object then holds nothing. For leases that were
  /// acquired with keep_on_disconnect and are to be claimed by a later session.
  void forget() noexcept;

 private:
  friend class Client;
  explicit Lease(std::unique_ptr<client::HeldLease> held) noexcept;
  std::unique_ptr<client::HeldLease> held_;
};

}  // namespace starlease

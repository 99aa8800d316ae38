// What can be asked and what is answered, typed, without JSON: IPC, client and simulator meet here.
// Shapes are ipc.md's; a Call is valid in shape only, the service checks the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/core/document.hpp"
#include "lib/core/lease_event.hpp"
#include "lib/core/listing.hpp"
#include "lib/core/record.hpp"

namespace starlease::core {

inline constexpr std::int64_t protocol_version = 1;

/// A deadline as asked: at most one of the two is set (both is a shape error).
struct DeadlineRequest {
  std::optional<WallTime> at;
  std::optional<Milliseconds> timeout;
};

enum class RenewMode : std::uint8_t { automatic, manual };
enum class OnDisconnect : std::uint8_t { release, keep };

struct HelloCall {
  std::int64_t protocol = 0;
  std::string client;
  std::string credential;
  ServiceInstanceId instance;
  std::string resume;
  bool notify_renewed = false;
  bool notify_backend = false;
};

struct AcquireCall {
  RawIdentity identity;
  RequestId request_id;
  DeadlineRequest deadline;
  std::optional<Milliseconds> ttl;
  std::optional<Milliseconds> maximum_lifetime;
  Milliseconds wait{0};
  Milliseconds heartbeat{0};
  WorkIds work;
  std::string metadata = "{}";
  RenewMode renew = RenewMode::automatic;
  OnDisconnect on_disconnect = OnDisconnect::release;
};

struct RenewCall {
  LeaseId lease_id;
  FencingToken token;
  RequestId request_id;
  DeadlineRequest deadline;
  std::optional<Milliseconds> ttl;
};

struct ReleaseCall {
  LeaseId lease_id;
  FencingToken token;
  RequestId request_id;
  DeadlineRequest deadline;
};

/// Exactly one of the two is set.
struct InspectCall {
  std::optional<RawIdentity> identity;
  std::optional<LeaseId> lease_id;
};

enum class Operation : std::uint8_t { acquire, renew, release, commit, force_release, revoke };

[[nodiscard]] constexpr std::string_view name(Operation operation) {
  constexpr std::array<std::string_view, 6> names = {"acquire", "renew",         "release",
                                                     "commit",  "force_release", "revoke"};
  return names[static_cast<std::size_t>(operation)];
}

struct ResolveCall {
  RequestId request_id;
  Operation operation{};
  RawIdentity identity;
};

/// What the worker passes on with its work (contract "fencing"; ipc.md `envelope`).
struct Envelope {
  std::string lock_key;
  LeaseId lease_id;
  FencingToken token;
  BackendTime expires_at;
  ExecutionId execution;
  TraceId trace;
};

struct CommitCall {
  Envelope envelope;
  RequestId request_id;
  DeadlineRequest deadline;
  /// What is written; nothing for `authorize`, which only validates and raises the high-water mark.
  std::optional<DocumentWrite> write;
};

struct DocumentCall {
  RawIdentity identity;
  std::string name;
};

/// Admin socket only: an administrator ends the lease that he has seen.
struct InvalidateCall {
  /// force_release or revoke.
  Operation operation = Operation::force_release;
  RawIdentity identity;
  /// As observed.
  LeaseId lease_id;
  FencingToken token;
  RequestId request_id;
  /// Signed, so it is an instant and not a duration.
  WallTime deadline_at;
  /// A reason for a person, or the identifier of an incident.
  std::string reason;
  bool is_incident = false;
  /// Which key has signed, and the signature as base64url.
  std::string key_id;
  std::string signature;
};

struct PingCall {};
struct GoodbyeCall {};

/// Admin socket only.
enum class NamespaceAction : std::uint8_t { status, init };
struct NamespaceCall {
  NamespaceAction action{};
};
struct StatsCall {};

/// A part of a long answer: at most so many, behind where an earlier part ended.
struct PageRequest {
  std::optional<std::int64_t> size;
  std::optional<std::string> cursor;
};

/// Active leases. By owner: `owner`, or the caller's own where it is absent; otherwise the first
/// two, or four, components of `target`.
struct ListCall {
  ListBy by{};
  std::optional<PrincipalId> owner;
  RawIdentity target;
  PageRequest page;
};

/// How the leases of an identity ended.
struct HistoryCall {
  RawIdentity identity;
  PageRequest page;
};

using Call = std::variant<HelloCall, AcquireCall, RenewCall, ReleaseCall, InspectCall, ResolveCall,
                          PingCall, GoodbyeCall, NamespaceCall, StatsCall, CommitCall, DocumentCall,
                          ListCall, HistoryCall, InvalidateCall>;

// --- answers ------------------------------------------------------------------------------------

struct Limits {
  std::int64_t max_frame_bytes = 0;
  Milliseconds minimum_ttl{}, maximum_ttl{}, default_ttl{}, maximum_lifetime{}, maximum_wait{};
  std::int64_t max_leases = 0;
};

struct HelloAnswer {
  std::string server;
  Owner owner;
  std::string resume;
  Limits limits;
  BackendState backend{};
};

/// Where an answer comes from an idempotency record: what has become of the lease since.
struct Replay {
  LeaseState current_state{};
};

/// lease_acquired or lease_renewed.
struct GrantAnswer {
  bool renewed = false;
  LockIdentity identity;
  Grant grant;
  LeaseState state = LeaseState::active;
  Envelope envelope;
  Milliseconds valid_for{};
  BootTime valid_until;
  std::optional<Replay> replay;
};

struct ReleasedAnswer {
  LeaseId lease_id;
  FencingToken token;
  BackendTime released_at;
  std::optional<Replay> replay;
};

struct InspectedAnswer {
  LockIdentity identity;
  Grant grant;
  LeaseState state{};
  /// Evidence of a terminal state.
  std::optional<BackendTime> ended_at;
  std::string end_reason;
};

/// lease_committed, or lease_commit_authorized where nothing was written (revision 0).
struct CommittedAnswer {
  BackendTime accepted_at;
  FencingToken token;
  std::int64_t revision = 0;
  std::optional<Replay> replay;
};

/// lease_force_released or lease_revoked.
struct InvalidatedAnswer {
  Operation operation = Operation::force_release;
  LeaseId lease_id;
  FencingToken token;
  BackendTime ended_at;
  std::optional<Replay> replay;
};

struct DocumentAnswer {
  Document document;
};

/// lease_resolved. `result` is the original outcome where one was committed.
struct ResolvedAnswer {
  bool committed = false;
  std::optional<
      std::variant<GrantAnswer, ReleasedAnswer, CommittedAnswer, InvalidatedAnswer, Failure>>
      result;
  std::optional<LeaseState> current_state;
};

struct PongAnswer {
  BackendState backend{};
  BootTime boot_now;
};
struct GoodbyeAnswer {};

/// One partition's gate, for operators.
struct PartitionStatus {
  std::uint32_t partition = 0;
  std::string state;
  Epoch epoch;
  FencingToken token_floor;
  std::int64_t sequence = 0;
};
struct NamespaceAnswer {
  std::string namespace_name;
  std::vector<PartitionStatus> partitions;
};
/// Named counters and gauges of the daemon, in stable order.
struct StatsAnswer {
  std::vector<std::pair<std::string, std::int64_t>> values;
};

/// `next_cursor` is empty at the end. Leases are active here, ended ones in the history.
struct ListedAnswer {
  std::vector<InspectedAnswer> leases;
  std::string next_cursor;
};
struct HistoryAnswer {
  std::vector<InspectedAnswer> history;
  std::string next_cursor;
};

using Answer =
    std::variant<HelloAnswer, GrantAnswer, ReleasedAnswer, InspectedAnswer, ResolvedAnswer,
                 PongAnswer, GoodbyeAnswer, NamespaceAnswer, StatsAnswer, CommittedAnswer,
                 DocumentAnswer, ListedAnswer, HistoryAnswer, InvalidatedAnswer>;

}  // namespace starlease::core

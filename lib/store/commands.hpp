// What is asked of a lease store and what it answers: the service's words, not the backend's.
// Each command is one atomic operation at one linearization point. Contract "operations".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/core/document.hpp"
#include "lib/core/idempotency.hpp"
#include "lib/core/listing.hpp"
#include "lib/core/record.hpp"

namespace starlease::store {

using core::BackendTime;
using core::BootTime;
using core::Milliseconds;

/// What a store operation came to. Everything from `unavailable` down proves nothing was done,
/// except `unknown`.
enum class Status : std::uint8_t {
  ok,                    ///< done now, or before under the same request (see `replayed`)
  conflict,              ///< another unexpired lease owns the identity
  lost,                  ///< the caller is not the active holder
  idempotency_conflict,  ///< the request id was used with other inputs
  not_found,             ///< nothing there (inspect, resolve)
  deadline_exceeded,     ///< the deadline passed before the atomic section
  grace,                 ///< recovered; nothing is granted yet
  recovering,            ///< the gate does not fit the server; recovery is needed
  quarantined,           ///< a record is corrupt; closed until an administrator clears it
  exhausted,             ///< fencing tokens would pass 2^53-1
  commit_conflict,       ///< the write's own guard does not hold
  full,                  ///< the identity has as many documents as it may
  unavailable,           ///< not submitted, or refused without effect
  unknown,               ///< submitted, no answer: it may have been done
};

/// The status's name, for logs and traces.
[[nodiscard]] constexpr std::string_view name(Status status) {
  constexpr std::array<std::string_view, 14> names = {"ok",
                                                      "conflict",
                                                      "lost",
                                                      "idempotency_conflict",
                                                      "not_found",
                                                      "deadline",
                                                      "grace",
                                                      "recovering",
                                                      "quarantined",
                                                      "exhausted",
                                                      "commit_conflict",
                                                      "full",
                                                      "unavailable",
                                                      "unknown"};
  return names[static_cast<std::size_t>(status)];
}

/// Common head of every answer.
struct Head {
  Status status = Status::unavailable;
  /// Backend time of the linearization point; meaningless for unavailable and unknown.
  BackendTime now;
  /// Boot time just before the command was written; the base of local validity.
  BootTime sent_at;
  /// True if the answer is the stored one of an earlier identical request.
  bool replayed = false;
  /// For conflict, grace, recovering, unavailable: when trying again makes sense, if known.
  std::optional<Milliseconds> retry_after;
  /// The partition's epoch and gate sequence; zero where the store did not answer or cannot tell.
  core::Epoch epoch;
  std::int64_t sequence = 0;
};

/// Who asks, for the audit entry that the operation itself writes.
struct Audit {
  core::RequestId request_id;
  core::CorrelationId correlation_id;
  core::DecisionId decision_id;
  std::string principal_class;
};

struct Idempotency {
  core::IdempotencyScope scope;
  core::RequestDigest digest{};
  Milliseconds retention{};
  /// How long a refusal is kept; zero for the intermediate attempts of a bounded wait.
  Milliseconds refusal_retention{};
};

struct AcquireCommand {
  core::LockDigest digest;
  core::LockIdentity identity;
  core::Owner owner;
  /// Used if the lease is granted; never used before.
  core::LeaseId candidate;
  Milliseconds ttl{};
  Milliseconds maximum_lifetime{};
  /// How long an identity stays closed after an expiry or a recovery, not after a release.
  Milliseconds lock_delay{};
  core::WorkIds work;
  std::string metadata;
  Idempotency idempotency;
  Audit audit;
};
struct AcquireResult {
  Head head;
  /// The grant, original where replayed. REQUIRES: status ok.
  core::Grant grant;
  /// Where replayed: what the lease is now, and when it ends if it is still active.
  core::LeaseState current_state = core::LeaseState::active;
  BackendTime current_expires_at;
  /// For conflict: the holder is the asking instance, under this id.
  std::optional<core::LeaseId> own_lease_id;
};

/// The exact tuple that renewal and release compare. Contract "renew-if-owner".
struct Holder {
  core::LockDigest digest;
  core::LeaseId lease_id;
  core::FencingToken token;
  core::Owner owner;
};

/// One of the daemon's own timed renewals; `sequence` grows with each attempt for the lease.
struct TimedRenewal {
  Holder holder;
  Milliseconds ttl{};
  std::int64_t sequence = 0;
};
struct TimedRenewalResult {
  /// ok, lost, or quarantined.
  Status status = Status::lost;
  BackendTime expires_at;
  /// The terminal state, where status is lost and the store can tell.
  std::optional<core::LeaseState> state;
  /// With `released`: by an administrator, not by its holder.
  bool forced = false;
};
/// One answer per renewal in the order asked. REQUIRES: results filled only where head.status is
/// ok.
struct TimedRenewalsResult {
  Head head;
  std::vector<TimedRenewalResult> results;
};

/// A worker's own renewal; idempotent by request id, so it needs no sequence.
struct RenewCommand {
  Holder holder;
  Milliseconds ttl{};
  Idempotency idempotency;
  Audit audit;
};
struct RenewResult {
  Head head;
  core::Grant grant;
  /// The whole record as renewed (identity, work ids); filled where status is ok and not replayed.
  std::optional<core::LeaseRecord> record;
  core::LeaseState current_state = core::LeaseState::active;
  BackendTime current_expires_at;
};

struct ReleaseCommand {
  Holder holder;
  Idempotency idempotency;
  Milliseconds terminal_retention{};
  Audit audit;
};
struct ReleaseResult {
  Head head;
  BackendTime released_at;
  /// What was released; filled where status is ok.
  core::LeaseId lease_id;
  core::FencingToken token;
  /// Where lost: the terminal state, if the store can tell.
  std::optional<core::LeaseState> state;
};

struct InspectCommand {
  core::LockDigest digest;
  /// Set: only this lease is meant, not a predecessor or successor.
  std::optional<core::LeaseId> lease_id;
};
struct InspectResult {
  Head head;
  /// Its `state` is the effective one: an overdue active record is expired.
  std::optional<core::LeaseRecord> record;
};

/// A fenced write by whoever was given the lease's envelope. Contract "fencing".
struct CommitCommand {
  core::LockDigest digest;
  core::LeaseId lease_id;
  core::FencingToken token;
  /// The writer: its principal must be the lease's owner, its instance need not be the holder's.
  core::Owner writer;
  /// As the envelope says: compared with the lease.
  BackendTime envelope_expires_at;
  core::ExecutionId execution;
  core::TraceId trace;
  /// Nothing: only validate and raise the high-water mark.
  std::optional<core::DocumentWrite> write;
  Idempotency idempotency;
  Audit audit;
};
struct CommitResult {
  Head head;
  BackendTime accepted_at;
  core::FencingToken token;
  /// Of the document, as written or, for commit_conflict, as it stands; 0 for none.
  std::int64_t revision = 0;
  /// Where replayed: what the lease is now.
  core::LeaseState current_state = core::LeaseState::active;
  BackendTime current_expires_at;
};

/// An administrator ends the lease that he has seen. Contract "force-release", "revoke".
struct InvalidateCommand {
  /// force_release or revoke.
  core::Operation operation = core::Operation::force_release;
  core::LockDigest digest;
  core::LeaseId lease_id;
  core::FencingToken token;
  core::Owner administrator;
  /// For the durable audit: why, what was signed, how and by which key.
  std::string reason;
  std::string statement;
  std::string signature;
  std::string key_id;
  Idempotency idempotency;
  Audit audit;
};
struct InvalidateResult {
  Head head;
  core::LeaseId lease_id;
  core::FencingToken token;
  BackendTime ended_at;
};

struct DocumentCommand {
  core::LockDigest digest;
  std::string name;
};
struct DocumentResult {
  Head head;
  /// Filled where status is ok.
  core::Document document;
};

/// Active leases of one partition in the order of core::list_position().
struct ListCommand {
  std::uint32_t partition = 0;
  core::ListFilter filter;
  /// Only what stands behind this position; empty: from the beginning.
  std::string after;
  /// How many are looked at, at most; those that have ended, or are corrupt, are left out.
  std::size_t limit = 0;
};
struct ListedLease {
  std::string position;
  core::LockIdentity identity;
  core::Grant grant;
};
struct ListResult {
  Head head;
  std::vector<ListedLease> leases;
  /// The last position that was looked at; empty if there was none.
  std::string reached;
  /// There are more behind it.
  bool more = false;
};

/// How leases of one lock ended, newest first.
struct HistoryCommand {
  core::LockDigest digest;
  /// Only what is older than where an earlier call came to; empty: from the newest.
  std::string before;
  /// How many are told, at most. So many entries are looked through in a call that it may tell
  /// fewer, or none, before the end.
  std::size_t limit = 0;
};
struct HistoryResult {
  Head head;
  std::vector<core::LeaseRecord> records;
  /// Where to go on, in the store's own terms; empty: the end was reached.
  std::string reached;
};

struct ResolveCommand {
  core::LockDigest digest;  ///< names the partition
  core::Operation operation{};
  core::IdempotencyScope scope;
};
/// status ok: committed; `outcome` is the stored one. not_found: no attempt has committed.
struct ResolveResult {
  Head head;
  std::variant<AcquireResult, RenewResult, ReleaseResult, CommitResult, InvalidateResult> outcome;
  core::LeaseState current_state = core::LeaseState::active;
};

/// Ends up to `limit` leases of a partition whose time has come.
struct SweepCommand {
  std::uint32_t partition = 0;
  std::size_t limit = 0;
  core::CorrelationId correlation_id;
};
struct SweepResult {
  Head head;
  /// Leases that got their terminal evidence by this call.
  std::uint64_t ended = 0;
  /// There may be more: ask again.
  bool more = false;
};

enum class GateState : std::uint8_t { serving, closed, absent, corrupt };

/// A partition's gate as observed. design.md 3.
struct Gate {
  std::uint32_t partition = 0;
  GateState state = GateState::absent;
  /// True if the gate was attested on the server that answered.
  bool on_this_server = false;
  core::Epoch epoch;
  core::FencingToken token_floor;
  std::int64_t sequence = 0;
  BackendTime highest;
  BackendTime grace_until;
  /// Opaque: what recover() compares, so that two daemons recover once.
  std::string observed;
};
/// Why a gate that is not served from cannot be, for the log.
[[nodiscard]] constexpr const char* gate_trouble(const Gate& gate) {
  switch (gate.state) {
    case GateState::absent:
      return "gate absent: the data are new, or lost";
    case GateState::corrupt:
      return "gate corrupt";
    case GateState::closed:
      return "gate closed: the store's clock stepped back";
    case GateState::serving:
      return "gate foreign: the store was restarted, restored or failed over";
  }
  return "";
}
struct GateResult {
  Head head;
  Gate gate;
};

enum class RecoveryGrace : std::uint8_t { ttl, none };

struct RecoverCommand {
  std::uint32_t partition = 0;
  std::string observed;
  Milliseconds clock_tolerance{};
  /// The highest token that this daemon has seen in the partition; 0 for none.
  core::FencingToken seen_token;
  RecoveryGrace grace = RecoveryGrace::ttl;
  /// The grace lasts at least this long, and longer if the gate knows of a longer TTL.
  Milliseconds least_grace{};
  /// trust-durable: keep the epoch if the gate's sequence is at least `seen_sequence`.
  bool keep_leases = false;
  std::int64_t seen_sequence = 0;
  Audit audit;
};
/// ok: recovered by this call, `gate` is the new one. conflict: somebody else changed the gate
/// first. unavailable with retry_after: the clocks differ too much.
struct RecoverResult {
  Head head;
  Gate gate;
};

struct InitGateCommand {
  std::uint32_t partition = 0;
  Audit audit;
};

}  // namespace starlease::store

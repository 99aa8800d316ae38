// The two stores that must be equal, asked the same way: the real functions on a real server, and
// the model. The model's clock is what the server's answer says, so that both live in one instant.
#pragma once

#include <variant>

#include "daemon/valkey/partition_keys.hpp"
#include "lib/store/memory_backend.hpp"
#include "tests/conformance/server.hpp"

namespace starlease::conformance {

struct ReadGate {};
using TimedRenewals = std::vector<store::TimedRenewal>;
struct Recover {
  store::RecoverCommand command;
  /// The daemon's wall clock, relative to the server's.
  core::Milliseconds wall_difference{};
};
/// A part of a history; each side goes on from where its own last part ended.
struct History {
  store::HistoryCommand command;
  bool go_on = false;
};
using Command =
    std::variant<store::AcquireCommand, TimedRenewals, store::RenewCommand, store::ReleaseCommand,
                 store::InspectCommand, store::ResolveCommand, ReadGate, store::InitGateCommand,
                 Recover, store::SweepCommand, store::CommitCommand, store::DocumentCommand,
                 store::ListCommand, History, store::InvalidateCommand>;
using Result = std::variant<store::AcquireResult, store::TimedRenewalsResult, store::RenewResult,
                            store::ReleaseResult, store::InspectResult, store::ResolveResult,
                            store::GateResult, store::RecoverResult, store::SweepResult,
                            store::CommitResult, store::DocumentResult, store::ListResult,
                            store::HistoryResult, store::InvalidateResult>;

/// The real one.
class ValkeySide {
 public:
  explicit ValkeySide(Server& server) : server_(server), keys_("conformance", 1) {}

  /// Aborts where the reply is not as agreed. `observed` of a recovery is this side's own.
  Result perform(const Command& command);
  /// The server's own clock at the last answer, unclamped where the answer tells it.
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  [[nodiscard]] std::int64_t server_ms();
  void corrupt(const core::LockDigest& digest);
  [[nodiscard]] std::string observed();
  /// Histories begin anew: their data have gone.
  void forget() { reached_.clear(); }

 private:
  Server& server_;
  valkey::PartitionKeys keys_;
  std::int64_t now_ms_ = 0;
  std::string reached_;
};

/// The model.
class ModelSide {
 public:
  Result perform(const Command& command, std::int64_t now_ms);
  [[nodiscard]] store::MemoryBackend& backend() { return backend_; }
  void forget() { reached_.clear(); }
  [[nodiscard]] std::string observed() { return backend_.read_gate(0).gate.observed; }

 private:
  std::int64_t now_ms_ = 0;
  std::string reached_;
  store::MemoryBackend backend_{1, [this] { return core::backend_time(now_ms_); }};
};

}  // namespace starlease::conformance

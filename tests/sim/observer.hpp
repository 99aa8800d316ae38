// What the world shows to its checkers: every atomic operation at the backend, every frame that a
// daemon writes, everything that a worker comes to believe. Checkers only look.
#pragma once

#include <cstdint>
#include <string>

#include "lib/core/calls.hpp"
#include "lib/store/commands.hpp"
#include "proto-ipc/reply_decoder.hpp"
#include "tests/sim/event_queue.hpp"

namespace starlease::sim {

/// A lease as a worker believes to hold it.
struct Belief {
  std::uint64_t worker = 0;
  core::LockDigest digest;
  core::LeaseId lease_id;
  std::int64_t token = 0;
  base::BootTime valid_until;
  /// The same instant in true time, on the worker's host.
  Time until{};
};

/// One frame of a daemon.
struct Written {
  std::uint64_t daemon = 0;  // a number for each life of a daemon
  std::uint64_t connection = 0;
  std::uint64_t worker = 0;
  base::BootTime boot_now;
  /// What it answers; null for an event, or where the worker has forgotten the question.
  const core::Call* asked = nullptr;
  const ipc::Message& message;
};

class Observer {
 public:
  virtual ~Observer() = default;

  // --- at the backend, at the linearization point ---
  virtual void acquired(Time, const store::AcquireCommand&, const store::AcquireResult&) {}
  virtual void renewed(Time, const store::Holder&, store::Status, core::BackendTime /*expires_at*/,
                       const store::Head&) {}
  virtual void released(Time, const store::ReleaseCommand&, const store::ReleaseResult&) {}
  virtual void committed(Time, const store::CommitCommand&, const store::CommitResult&) {}
  virtual void recovered(Time, std::uint32_t /*partition*/, const store::RecoverResult&) {}
  /// The server came back without some of what it had acknowledged.
  virtual void data_lost(Time) {}
  /// The server's clock went forward by itself: leases end early, which only tokens can cover.
  virtual void clock_jumped(Time) {}

  // --- at a daemon ---
  virtual void wrote(Time, const Written&) {}
  /// The daemon has come to know that a connection is over.
  virtual void hung_up(Time, std::uint64_t /*connection*/) {}
  /// A daemon has woken up and done what was due, as it does first at every wake-up.
  virtual void turned(Time, std::uint64_t /*daemon*/, base::BootTime) {}
  virtual void daemon_died(Time, std::uint64_t /*daemon*/) {}

  // --- at a worker ---
  /// It relies on a lease from now on, or longer than before.
  virtual void believes(Time, const Belief&) {}
  virtual void believes_no_more(Time, std::uint64_t /*worker*/, const core::LeaseId&) {}
};

}  // namespace starlease::sim

// Acquisitions that wait for a lock, in turn within this daemon: of those that wait only the first
// asks the store, so that a release costs one call however many wait. A newcomer asks once.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>

#include "lib/core/lock_key.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

/// What a line needs of those that stand in it.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// The lock may be free: ask the store now.
  virtual void lock_may_be_free() = 0;
  /// First in line now: asks when `retry_at` comes, if nothing is heard before.
  virtual void now_first(BootTime retry_at) = 0;
};

class Waiters {
 public:
  explicit Waiters(const AdmissionSettings& bounds) : bounds_(bounds) {}

  /// False if the line or the daemon carries no more.
  [[nodiscard]] bool join(const core::LockDigest& digest, Waiter& waiter);
  /// REQUIRES: joined. The next one is told if the first left.
  void leave(const core::LockDigest& digest, Waiter& waiter);
  [[nodiscard]] bool is_first(const core::LockDigest& digest, const Waiter& waiter) const;
  /// When asking again makes sense, as last heard from the store.
  void holder_known_until(const core::LockDigest& digest, BootTime retry_at);
  void lock_may_be_free(const core::LockDigest& digest);
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Line {
    std::deque<Waiter*> waiters;
    BootTime retry_at = BootTime::min();
  };
  const AdmissionSettings& bounds_;
  std::unordered_map<core::LockDigest, Line> lines_;
  std::size_t count_ = 0;
};

}  // namespace starlease::service

// Lines of waiting acquisitions; see the header.
#include "lib/service/waiters.hpp"

#include "lib/base/assert.hpp"

namespace starlease::service {

bool Waiters::join(const core::LockDigest& digest, Waiter& waiter) {
  if (count_ >= bounds_.max_waiters) return false;
  Line& line = lines_[digest];
  if (line.waiters.size() >= bounds_.max_waiters_per_lock) return false;
  line.waiters.push_back(&waiter);
  ++count_;
  return true;
}

void Waiters::leave(const core::LockDigest& digest, Waiter& waiter) {
  const auto found = lines_.find(digest);
  SL_ASSERT(found != lines_.end());
  Line& line = found->second;
  const bool was_first = line.waiters.front() == &waiter;
  const auto erased = std::erase(line.waiters, &waiter);
  SL_ASSERT(erased == 1);
  --count_;
  if (line.waiters.empty()) {
    lines_.erase(found);
  } else if (was_first) {
    line.waiters.front()->now_first(line.retry_at);
  }
}

bool Waiters::is_first(const core::LockDigest& digest, const Waiter& waiter) const {
  const auto found = lines_.find(digest);
  return found != lines_.end() && found->second.waiters.front() == &waiter;
}

void Waiters::holder_known_until(const core::LockDigest& digest, BootTime retry_at) {
  if (const auto found = lines_.find(digest); found != lines_.end()) {
    found->second.retry_at = retry_at;
  }
}

void Waiters::lock_may_be_free(const core::LockDigest& digest) {
  if (const auto found = lines_.find(digest); found != lines_.end()) {
    found->second.waiters.front()->lock_may_be_free();
  }
}

}  // namespace starlease::service

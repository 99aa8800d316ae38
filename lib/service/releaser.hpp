// Releases leases whose worker is gone, in the background: retried until the store has answered or
// the lease has ended by itself. Bounded in flight, so that ten thousand workers leaving at once do
// not flood the store.
//
// What is being given away is nobody's any more: a release that was submitted may be done at any
// later time, so whoever would rely on the lease again has to ask giving_up() first.
#pragma once

#include <deque>
#include <memory>
#include <unordered_set>

#include "lib/core/id_factory.hpp"
#include "lib/service/seams.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

class Recovery;

class Releaser {
 public:
  Releaser(const Settings& settings, const Seams& seams, core::IdFactory& ids, Recovery& recovery)
      : settings_(settings), seams_(seams), ids_(ids), recovery_(recovery) {}

  /// Releases `holder`'s lease; gives up at `until`, when it has ended by itself.
  void release(store::Holder holder, std::string principal_class, BootTime until);
  /// A release of this lease waits or is under way: it must not be held, renewed or granted again.
  [[nodiscard]] bool giving_up(const core::LeaseId& lease_id) const {
    return leases_.contains(lease_id);
  }
  /// The store can be reached again.
  void on_link_up() { pump(); }
  /// Called when nothing is left to release (for drain); at once if that is so now.
  void when_idle(std::move_only_function<void()> idle);
  [[nodiscard]] std::size_t backlog() const { return queue_.size() + in_flight_; }

 private:
  struct Entry {
    store::ReleaseCommand command;
    BootTime until;
  };
  void pump();
  void done_with(const Entry& entry) { leases_.erase(entry.command.holder.lease_id); }
  void on_answer(Entry entry, const store::ReleaseResult& result);

  const Settings& settings_;
  const Seams& seams_;
  core::IdFactory& ids_;
  Recovery& recovery_;
  std::deque<Entry> queue_;
  std::unordered_set<core::LeaseId> leases_;  // of all entries, queued and in flight
  std::size_t in_flight_ = 0;
  base::Timer retry_;
  std::move_only_function<void()> idle_;
};

}  // namespace starlease::service

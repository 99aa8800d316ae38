// Releases leases whose worker is gone, in the background: retried until the store has answered or
// the lease has ended by itself. Bounded in flight, so that ten thousand workers leaving at once do
// not flood the store.
#pragma once

#include <deque>
#include <memory>

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
  /// The store can be reached again.
  void on_link_up() { pump(); }
  /// Called when nothing is left to release (for drain); at once if that is so now.
  void when_idle(std::move_only_function<void()> idle);
  [[nodiscard]] std::size_t backlog() const { return queue_.size() + in_flight_; }

 private:
  struct Entry {
    store::ReleaseCommand command;
    BootTime until;
    unsigned failures = 0;
  };
  void pump();
  void on_answer(Entry entry, const store::ReleaseResult& result);

  const Settings& settings_;
  const Seams& seams_;
  core::IdFactory& ids_;
  Recovery& recovery_;
  std::deque<Entry> queue_;
  std::size_t in_flight_ = 0;
  base::Timer retry_;
  std::move_only_function<void()> idle_;
};

}  // namespace starlease::service

// The fence: a write is accepted only from the lease that was granted last on its lock, while that
// has not ended, and once however often it is asked; a document's revision grows by one each time.
#pragma once

#include <map>
#include <unordered_map>

#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class FencingChecker final : public Observer {
 public:
  explicit FencingChecker(Verdict& verdict) : verdict_(verdict) {}

  void acquired(Time, const store::AcquireCommand& command,
                const store::AcquireResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    locks_[command.digest].holder = {result.grant.lease_id, result.grant.token.value,
                                     result.grant.expires_at, result.head.epoch};
  }
  void renewed(Time, const store::Holder& holder, store::Status status,
               core::BackendTime expires_at, const store::Head&) override {
    Lock& lock = locks_[holder.digest];
    const bool current = status == store::Status::ok && lock.holder.lease_id == holder.lease_id;
    if (current) lock.holder.expires_at = expires_at;
  }
  void released(Time, const store::ReleaseCommand& command,
                const store::ReleaseResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    locks_[command.holder.digest].holder = {};
  }
  void committed(Time, const store::CommitCommand& command,
                 const store::CommitResult& result) override {
    if (result.head.status != store::Status::ok) return;
    if (result.head.replayed) return check_replay(command, result);
    Lock& lock = locks_[command.digest];
    const Holder& holder = lock.holder;
    const std::string who = "a write by " + command.lease_id.value;
    if (holder.lease_id != command.lease_id || holder.token != command.token.value) {
      fail(who + " was accepted, which does not hold the lock");
    }
    if (result.head.now >= holder.expires_at) fail(who + " was accepted after its end");
    if (result.head.epoch != holder.epoch) fail(who + " was accepted in a later epoch");
    if (command.token.value < lock.written) fail(who + " was accepted below a higher token");
    lock.written = command.token.value;
    if (command.write) check_revision(lock, command, result);
    answers_[command.idempotency.scope.value] = {result.accepted_at, result.revision};
  }
  void data_lost(Time) override { data_lost_ = true; }

 private:
  struct Holder {
    core::LeaseId lease_id;
    std::int64_t token = 0;
    core::BackendTime expires_at;
    core::Epoch epoch;
  };
  struct Lock {
    Holder holder;
    std::int64_t written = 0;
    std::map<std::string, std::int64_t> revisions;
  };

  void check_revision(Lock& lock, const store::CommitCommand& command,
                      const store::CommitResult& result) {
    std::int64_t& revision = lock.revisions[command.write->content.name];
    // With lost data documents go back, too.
    if (result.revision != revision + 1 && !data_lost_) {
      fail("revision " + std::to_string(result.revision) + " after " + std::to_string(revision));
    }
    revision = result.revision;
  }
  void check_replay(const store::CommitCommand& command, const store::CommitResult& result) {
    const auto first = answers_.find(command.idempotency.scope.value);
    if (first == answers_.end()) return fail("a write was repeated that never was made");
    if (first->second != std::pair(result.accepted_at, result.revision)) {
      fail("a repeated write was answered otherwise than the first");
    }
  }
  void fail(std::string what) { verdict_.violated(Kind::safety, "fencing", std::move(what)); }

  Verdict& verdict_;
  std::unordered_map<core::LockDigest, Lock> locks_;
  std::map<std::string, std::pair<core::BackendTime, std::int64_t>> answers_;
  bool data_lost_ = false;
};

}  // namespace starlease::sim

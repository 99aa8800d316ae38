// At most one holder per identity by backend time and epoch, and nothing leads out of an end: its
// own account of who holds what, from what the backend answered.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class ExclusiveChecker final : public Observer {
 public:
  ExclusiveChecker(Verdict& verdict, std::uint32_t partitions)
      : verdict_(verdict), epochs_(partitions) {}

  void acquired(Time, const store::AcquireCommand& command,
                const store::AcquireResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    const auto held = holders_.find(command.digest);
    if (held != holders_.end() && holds(held->second, result.head)) {
      fail("granted " + result.grant.lease_id.value + " while " + held->second.lease_id.value +
           " holds it");
    }
    if (!known_.insert(result.grant.lease_id).second) {
      fail("granted " + result.grant.lease_id.value + " twice");
    }
    if (held != holders_.end()) ended_.insert(held->second.lease_id);
    holders_[command.digest] = {result.grant.lease_id, result.grant.expires_at, result.head.epoch,
                                result.grant.acquired_at + command.maximum_lifetime};
    epoch_of(command.digest) = result.head.epoch;
  }
  void renewed(Time, const store::Holder& holder, store::Status status,
               core::BackendTime expires_at, const store::Head& head) override {
    if (status != store::Status::ok) return;
    const auto held = holders_.find(holder.digest);
    if (held == holders_.end() || held->second.lease_id != holder.lease_id) {
      return fail("renewed " + holder.lease_id.value + ", which does not hold it");
    }
    if (!holds(held->second, head)) fail("renewed " + holder.lease_id.value + " after its end");
    held->second.expires_at = expires_at;
    if (expires_at > held->second.last_end) fail("renewed past the maximum lifetime");
  }
  void released(Time, const store::ReleaseCommand& command,
                const store::ReleaseResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    const auto held = holders_.find(command.holder.digest);
    if (held == holders_.end() || held->second.lease_id != command.holder.lease_id) {
      return fail("released " + command.holder.lease_id.value + ", which does not hold it");
    }
    holders_.erase(held);
    ended_.insert(command.holder.lease_id);
  }
  void recovered(Time, std::uint32_t partition, const store::RecoverResult& result) override {
    if (result.head.status != store::Status::ok) return;
    if (result.gate.epoch < epochs_[partition]) fail("an epoch went back");
    epochs_[partition] = result.gate.epoch;
  }

 private:
  struct Holder {
    core::LeaseId lease_id;
    core::BackendTime expires_at;
    core::Epoch epoch;
    core::BackendTime last_end;
  };
  core::Epoch& epoch_of(const core::LockDigest& digest) {
    return epochs_[core::partition_of(digest, static_cast<std::uint32_t>(epochs_.size()))];
  }
  bool holds(const Holder& holder, const store::Head& head) const {
    return !ended_.contains(holder.lease_id) && holder.epoch == head.epoch &&
           head.now < holder.expires_at;
  }
  void fail(std::string what) { verdict_.violated(Kind::safety, "exclusive", std::move(what)); }

  Verdict& verdict_;
  std::vector<core::Epoch> epochs_;
  std::unordered_map<core::LockDigest, Holder> holders_;
  std::unordered_set<core::LeaseId> known_;
  std::unordered_set<core::LeaseId> ended_;
};

}  // namespace starlease::sim

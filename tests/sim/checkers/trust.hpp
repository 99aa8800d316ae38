// Whoever trusts what it was told about validity is never inside it while another holds the lease:
// by true time, on the worker's own clock, across releases, losses, stalls and recoveries.
#pragma once

#include <map>
#include <vector>

#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class TrustChecker final : public Observer {
 public:
  explicit TrustChecker(Verdict& verdict) : verdict_(verdict) {}

  void acquired(Time now, const store::AcquireCommand& command,
                const store::AcquireResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    confirmed_[result.grant.lease_id] = now;
    for (const auto& [key, belief] : beliefs_) {
      if (belief.digest != command.digest || belief.until <= now) continue;
      // Confirmed before the server's clock jumped: only the token can tell that it ended early.
      if (confirmed_[belief.lease_id] <= jumped_) continue;
      if (belief.lease_id == result.grant.lease_id) continue;
      verdict_.violated(Kind::safety, "trust",
                        result.grant.lease_id.value + " was granted while worker " +
                            std::to_string(belief.worker) + " may rely on " +
                            belief.lease_id.value + " for another " +
                            std::to_string((belief.until - now).count() / 1000) + " us");
    }
  }
  void renewed(Time now, const store::Holder& holder, store::Status status, core::BackendTime,
               const store::Head&) override {
    if (status == store::Status::ok) confirmed_[holder.lease_id] = now;
  }
  void believes(Time now, const Belief& belief) override {
    std::erase_if(beliefs_, [now](const auto& entry) { return entry.second.until <= now; });
    beliefs_[{belief.worker, belief.lease_id}] = belief;
  }
  void believes_no_more(Time, std::uint64_t worker, const core::LeaseId& lease_id) override {
    beliefs_.erase({worker, lease_id});
  }
  void clock_jumped(Time now) override { jumped_ = now; }

 private:
  Verdict& verdict_;
  std::map<std::pair<std::uint64_t, core::LeaseId>, Belief> beliefs_;
  std::map<core::LeaseId, Time> confirmed_;
  Time jumped_{-1};
};

}  // namespace starlease::sim

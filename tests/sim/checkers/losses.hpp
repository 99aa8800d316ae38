// Each loss is told exactly once, by validity less the margin, and before anything else that its
// session is told. Where no fault is injected nothing is lost before its maximum lifetime.
#pragma once

#include <map>
#include <set>

#include "lib/core/ttl_policy.hpp"
#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class LossesChecker final : public Observer {
 public:
  LossesChecker(Verdict& verdict, const core::LeasePolicy& policy, bool calm)
      : verdict_(verdict), policy_(policy), calm_(calm) {}

  void wrote(Time, const Written& written) override {
    if (const auto* event = std::get_if<core::Event>(&written.message)) {
      if (const auto* lost = std::get_if<core::LeaseLost>(event)) return on_loss(written, *lost);
      check_overdue(written);
      if (const auto* renewed = std::get_if<core::LeaseRenewedNotice>(event)) {
        const auto found = promises_.find({written.connection, renewed->lease_id});
        if (found != promises_.end()) promise(written, renewed->lease_id, renewed->valid_until, {});
      }
      return;
    }
    const auto* reply = std::get_if<ipc::Reply>(&written.message);
    if (reply == nullptr || !reply->outcome) return check_overdue(written);
    const core::Answer& answer = *reply->outcome;
    if (const auto* hello = std::get_if<core::HelloAnswer>(&answer)) {
      const core::ServiceInstanceId& instance = hello->owner.instance;
      // Taken over: what was promised over an earlier connection is told over this one.
      std::erase_if(promises_, [&](const auto& entry) {
        const auto session = sessions_.find(entry.first.first);
        return session != sessions_.end() && session->second == instance;
      });
      sessions_[written.connection] = instance;
      return;
    }
    check_overdue(written);
    if (const auto* grant = std::get_if<core::GrantAnswer>(&answer)) {
      const bool active =
          !grant->replay || grant->replay->current_state == core::LeaseState::active;
      const bool lost =
          told_.contains({written.daemon, sessions_[written.connection], grant->grant.lease_id});
      if (active && grant->valid_until > written.boot_now) {
        if (lost) fail("promised " + grant->grant.lease_id.value + " after its loss was told");
        promise(written, grant->grant.lease_id, grant->valid_until, grant->grant.ttl);
      }
    } else if (const auto* released = std::get_if<core::ReleasedAnswer>(&answer)) {
      promises_.erase({written.connection, released->lease_id});
    }
  }
  void hung_up(Time, std::uint64_t connection) override {
    std::erase_if(promises_, [&](const auto& entry) { return entry.first.first == connection; });
    sessions_.erase(connection);
  }
  void turned(Time, std::uint64_t daemon, base::BootTime boot_now) override {
    for (const auto& [key, kept] : promises_) {
      if (kept.daemon == daemon && kept.due <= boot_now) {
        fail("the daemon woke up and did not tell the loss of " + key.second.value);
      }
    }
  }
  void daemon_died(Time, std::uint64_t daemon) override {
    std::erase_if(promises_, [&](const auto& entry) { return entry.second.daemon == daemon; });
  }
  [[nodiscard]] std::uint64_t told() const { return told_.size(); }

 private:
  struct Promise {
    std::uint64_t daemon = 0;
    Milliseconds ttl{};
    base::BootTime due;
  };

  void promise(const Written& written, const core::LeaseId& lease_id, base::BootTime valid_until,
               std::optional<Milliseconds> ttl) {
    Promise& kept = promises_[{written.connection, lease_id}];
    kept.daemon = written.daemon;
    if (ttl) kept.ttl = *ttl;
    kept.due = valid_until - core::margin(policy_, kept.ttl);
  }
  /// Something that is no loss is being written: then no loss may be due in this session.
  void check_overdue(const Written& written) {
    for (const auto& [key, kept] : promises_) {
      if (key.first == written.connection && kept.due <= written.boot_now) {
        fail("something was told before the loss of " + key.second.value);
      }
    }
  }
  void on_loss(const Written& written, const core::LeaseLost& lost) {
    promises_.erase({written.connection, lost.lease_id});
    const auto session = sessions_.find(written.connection);
    if (session == sessions_.end()) return fail("a loss was told to nobody's session");
    if (!told_.insert({written.daemon, session->second, lost.lease_id}).second) {
      fail("the loss of " + lost.lease_id.value + " was told twice");
    }
    if (calm_ && lost.reason != core::LossReason::maximum_lifetime) {
      fail("lost " + lost.lease_id.value +
           " for no cause: " + std::string(core::name(lost.reason)));
    }
  }
  void fail(std::string what) { verdict_.violated(Kind::safety, "losses", std::move(what)); }

  Verdict& verdict_;
  const core::LeasePolicy& policy_;
  const bool calm_;
  std::map<std::pair<std::uint64_t, core::LeaseId>, Promise> promises_;
  std::map<std::uint64_t, core::ServiceInstanceId> sessions_;
  std::set<std::tuple<std::uint64_t, core::ServiceInstanceId, core::LeaseId>> told_;
};

}  // namespace starlease::sim

// A repeated request changes nothing: the same instance, operation and request id always get the
// same lease and token, and every question gets one answer.
#pragma once

#include <map>
#include <set>

#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class ReplaysChecker final : public Observer {
 public:
  explicit ReplaysChecker(Verdict& verdict) : verdict_(verdict) {}

  void acquired(Time, const store::AcquireCommand& command,
                const store::AcquireResult& result) override {
    if (result.head.status != store::Status::ok) return;
    const auto key = std::pair(command.owner.instance, command.audit.request_id);
    const Granted granted{result.grant.lease_id, result.grant.token};
    const auto [first, fresh] = granted_.try_emplace(key, granted);
    if (fresh) return;
    if (result.head.replayed && first->second != granted) {
      fail("request " + key.second.value + " was answered with another lease than before");
    }
    // Forgotten by the backend only with its data.
    if (!result.head.replayed && !data_lost_) {
      fail("request " + key.second.value + " spent a second token");
    }
    first->second = granted;
  }
  void wrote(Time, const Written& written) override {
    const auto* reply = std::get_if<ipc::Reply>(&written.message);
    if (reply == nullptr) return;
    const auto* number = std::get_if<std::int64_t>(&reply->id);
    if (number == nullptr || !answered_.insert({written.connection, *number}).second) {
      fail("a question was answered twice, or nobody's");
    }
  }
  void hung_up(Time, std::uint64_t connection) override {
    answered_.erase(answered_.lower_bound({connection, INT64_MIN}),
                    answered_.upper_bound({connection, INT64_MAX}));
  }
  void data_lost(Time) override { data_lost_ = true; }

 private:
  struct Granted {
    core::LeaseId lease_id;
    core::FencingToken token;
    friend bool operator==(const Granted&, const Granted&) = default;
  };
  void fail(std::string what) { verdict_.violated(Kind::safety, "replays", std::move(what)); }

  Verdict& verdict_;
  std::map<std::pair<core::ServiceInstanceId, core::RequestId>, Granted> granted_;
  std::set<std::pair<std::uint64_t, std::int64_t>> answered_;
  bool data_lost_ = false;
};

}  // namespace starlease::sim

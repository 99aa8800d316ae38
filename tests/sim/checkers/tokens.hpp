// Fencing tokens strictly increase per identity, through every fault.
#pragma once

#include <unordered_map>

#include "tests/sim/observer.hpp"
#include "tests/sim/violation.hpp"

namespace starlease::sim {

class TokensChecker final : public Observer {
 public:
  explicit TokensChecker(Verdict& verdict) : verdict_(verdict) {}

  void acquired(Time, const store::AcquireCommand& command,
                const store::AcquireResult& result) override {
    if (result.head.status != store::Status::ok || result.head.replayed) return;
    std::int64_t& highest = highest_[command.digest];
    if (result.grant.token.value <= highest) {
      verdict_.violated(Kind::safety, "tokens",
                        "token " + std::to_string(result.grant.token.value) + " after " +
                            std::to_string(highest));
    }
    highest = result.grant.token.value;
  }

 private:
  Verdict& verdict_;
  std::unordered_map<core::LockDigest, std::int64_t> highest_;
};

}  // namespace starlease::sim

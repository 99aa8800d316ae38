// acquire and release as bare calls of the function library: the arguments of lua/README.md, with
// constants for everything that costs the same whatever it is.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/bench/resp.hpp"

namespace starlease::bench {

inline constexpr std::size_t status_field = 0;
inline constexpr std::size_t lease_id_field = 4;
inline constexpr std::size_t token_field = 5;

/// One identity, acquired and released again and again.
class LeaseCalls {
 public:
  /// `gate`: the partition's gate key. `name` makes digest and ids of its own.
  LeaseCalls(std::string gate, const std::string& name)
      : gate_(std::move(gate)), name_(name), digest_(name + std::string(32, 'd')) {
    digest_.resize(32);
  }

  /// Arguments of the n-th acquire.
  [[nodiscard]] std::vector<std::string> acquire(int n) const {
    const std::string number = name_ + std::to_string(n);
    std::string scope = "a" + number + std::string(43, 's');
    scope.resize(43);
    return {"FCALL",
            "starlease1_acquire",
            "1",
            gate_,
            digest_,
            "tenant-main",
            "program-a",
            "starintel-target",
            "target-" + name_,
            "bench",
            "default",
            "default",
            "prn_bench",
            "client_bench",
            "cred_bench",
            "instance_bench",
            "lease_" + number,
            "30000",
            "300000",
            "execution",
            "job",
            "trace",
            "{}",
            "request-" + number,
            scope,
            std::string(32, 'r'),
            "600000",
            "600000",
            "600000",
            "ownerhsh",
            "programh",
            "targeths",
            "corr",
            "decision",
            "actor_component",
            "0",
            "0"};
  }

  /// Arguments of the release of what the n-th acquire was answered.
  [[nodiscard]] std::vector<std::string> release(int n, const std::vector<std::string>& got) const {
    const std::string number = name_ + std::to_string(n);
    std::string scope = "r" + number + std::string(43, 's');
    scope.resize(43);
    return {"FCALL",
            "starlease1_release",
            "1",
            gate_,
            digest_,
            got.at(lease_id_field),
            got.at(token_field),
            "prn_bench",
            "instance_bench",
            "request-" + number,
            scope,
            std::string(32, 'r'),
            "600000",
            "600000",
            "600000",
            "corr",
            "decision",
            "actor_component",
            "0"};
  }

 private:
  std::string gate_;
  std::string name_;
  std::string digest_;
};

/// Ends the program if a call was answered with another status.
inline void expect(const std::vector<std::string>& reply, std::string_view status) {
  if (reply.at(status_field) == status) return;
  std::fprintf(stderr, "wanted %.*s, got %s\n", static_cast<int>(status.size()), status.data(),
               reply.at(status_field).c_str());
  std::exit(1);
}

}  // namespace starlease::bench

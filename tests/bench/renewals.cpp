// The floor of batched renewal: the function that the daemon calls, called as fast as it goes.
//   bench-renewals VALKEY GATE PRINCIPAL INSTANCE TTL_MS ROUNDS OUTSTANDING < LEASES
// LEASES: a line for each, "<digest in hex> <lease id> <token>". Every round renews all of them
// once, 100 a call, with so many calls outstanding. Prints one line of JSON.
#include <cstdlib>
#include <iostream>

#include "tests/bench/clock.hpp"
#include "tests/bench/resp.hpp"

namespace starlease::bench {
namespace {

constexpr std::size_t leases_per_call = 100;
constexpr std::size_t head_fields = 4;
constexpr std::size_t fields_per_lease = 2;

struct Lease {
  std::string digest, lease_id, token;
};

std::vector<Lease> read_leases() {
  std::vector<Lease> leases;
  std::string hex;
  Lease lease;
  while (std::cin >> hex >> lease.lease_id >> lease.token) {
    lease.digest.clear();
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      lease.digest += static_cast<char>(std::strtol(hex.substr(i, 2).c_str(), nullptr, 16));
    }
    leases.push_back(lease);
  }
  return leases;
}

struct Plan {
  std::string gate, principal, instance, ttl_ms;
  std::vector<Lease> leases;
};

/// Renewal sequences only grow, also past those that the daemon has used.
std::string next_sequence() {
  static std::int64_t last = now_ns(CLOCK_REALTIME) / 1'000'000 + 1'000'000;
  return std::to_string(++last);
}

void queue_call(Resp& valkey, const Plan& plan, std::size_t first) {
  const std::size_t end = std::min(first + leases_per_call, plan.leases.size());
  const std::string sequence = next_sequence();
  std::vector<std::string_view> call = {"FCALL", "starlease1_renew", "1", plan.gate, "0", "corr"};
  for (std::size_t i = first; i < end; ++i) {
    const Lease& lease = plan.leases[i];
    call.insert(call.end(), {lease.digest, lease.lease_id, lease.token, plan.principal,
                             plan.instance, plan.ttl_ms, sequence});
  }
  valkey.queue(call);
}

void check(const std::vector<std::string>& reply) {
  for (std::size_t i = head_fields; i < reply.size(); i += fields_per_lease) {
    if (reply[i] == "0") continue;
    std::fprintf(stderr, "a renewal was answered with %s\n", reply[i].c_str());
    std::exit(1);
  }
}

void renew_all(Resp& valkey, const Plan& plan, std::size_t outstanding) {
  std::size_t sent = 0;
  std::size_t unanswered = 0;
  while (sent < plan.leases.size() || unanswered > 0) {
    while (sent < plan.leases.size() && unanswered < outstanding) {
      queue_call(valkey, plan, sent);
      sent += leases_per_call;
      ++unanswered;
    }
    valkey.flush();
    check(valkey.read());
    --unanswered;
  }
}

}  // namespace
}  // namespace starlease::bench

int main(int argc, char** argv) {
  using namespace starlease::bench;
  if (argc != 8) {
    std::fputs("usage: bench-renewals VALKEY GATE PRINCIPAL INSTANCE TTL_MS ROUNDS OUTSTANDING\n",
               stderr);
    return 64;
  }
  Resp valkey(argv[1]);
  const Plan plan{argv[2], argv[3], argv[4], argv[5], read_leases()};
  const int rounds = std::atoi(argv[6]);
  const std::int64_t start = now_ns();
  const std::int64_t cpu = cpu_ns();
  for (int i = 0; i < rounds; ++i) {
    renew_all(valkey, plan, static_cast<std::size_t>(std::atoi(argv[7])));
  }
  const double seconds = static_cast<double>(now_ns() - start) / 1e9;
  std::printf("{\"renewals\":%zu,\"seconds\":%.6f,\"cpu_ns\":%lld}\n",
              plan.leases.size() * static_cast<std::size_t>(rounds), seconds,
              static_cast<long long>(cpu_ns() - cpu));
  return 0;
}

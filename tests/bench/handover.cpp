// From the holder's release to the waiter holding, one hand-over at a time:
//   bench-handover direct VALKEY GATE CHANNEL COUNT  a bare waiter: SUBSCRIBE, then FCALL acquire
//   bench-handover daemon SOCKET COUNT               two workers of the daemon
// The clock starts before the release is written and stops when the waiter has read its grant.
#include <cstdlib>
#include <string_view>

#include "tests/bench/clock.hpp"
#include "tests/bench/frames.hpp"
#include "tests/bench/lease_calls.hpp"

namespace starlease::bench {
namespace {

void direct(const std::string& path, const std::string& gate, const std::string& channel,
            int count) {
  Resp holder(path);
  Resp waiter(path);
  Resp notices(path);
  notices.call({"SUBSCRIBE", channel});
  const LeaseCalls calls(gate, "handover" + std::to_string(getpid()) + "-");
  auto grant = holder.call(calls.acquire(0));
  expect(grant, "acquired");
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    const auto release = calls.release(i, grant);
    const auto acquire = calls.acquire(i + 1);
    const std::int64_t start = now_ns();
    holder.queue(release);
    holder.flush();
    while (!notices.read().back().starts_with("released ")) {
    }
    grant = waiter.call(acquire);
    took.push_back(now_ns() - start);
    expect(grant, "acquired");
    expect(holder.read(), "released");
  }
  print_latency(std::move(took));
}

void daemon(const std::string& path, int count) {
  std::array<Worker, 2> workers{Worker(path), Worker(path)};
  const std::string target = "handover" + std::to_string(getpid());
  std::string grant = workers[0].call(acquire_request(target, 0));
  expect_code(grant, "lease_acquired");
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    Worker& holder = workers[static_cast<std::size_t>(i % 2)];
    Worker& waiter = workers[static_cast<std::size_t>((i + 1) % 2)];
    waiter.send(acquire_request(target, i + 1, R"(,"wait_ms":20000,"timeout_ms":25000)"));
    // A ping is answered after the request before it has been sent on; its own round trip then
    // leaves the store time to say that the lock is taken.
    for (int j = 0; j < 20; ++j) expect_code(waiter.call(R"({"id":-1,"op":"ping"})"), "pong");
    const std::string release = release_request(target, i, grant);
    const std::int64_t start = now_ns();
    holder.send(release);
    grant = waiter.read();
    took.push_back(now_ns() - start);
    expect_code(grant, "lease_acquired");
    expect_code(holder.read(), "lease_released");
  }
  print_latency(std::move(took));
}

}  // namespace
}  // namespace starlease::bench

int main(int argc, char** argv) {
  using namespace starlease::bench;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "direct" && argc == 6) {
    direct(argv[2], argv[3], argv[4], std::atoi(argv[5]));
  } else if (mode == "daemon" && argc == 4) {
    daemon(argv[2], std::atoi(argv[3]));
  } else {
    std::fputs("usage: bench-handover direct|daemon ...\n", stderr);
    return 64;
  }
  return 0;
}

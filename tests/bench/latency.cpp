// Round trips, one at a time:
//   bench-latency direct VALKEY GATE COUNT   acquire as a bare FCALL (each released again)
//   bench-latency daemon SOCKET COUNT        acquire through the daemon
//   bench-latency ping SOCKET COUNT          a request that the daemon answers by itself
//   bench-latency echo COUNT                 the floor of a hop: a bare echo in a second process
// Prints one line of JSON.
#include <sys/wait.h>

#include <cstdlib>
#include <string_view>

#include "tests/bench/clock.hpp"
#include "tests/bench/frames.hpp"
#include "tests/bench/lease_calls.hpp"

namespace starlease::bench {
namespace {

constexpr std::size_t echo_bytes = 300;

void direct(const std::string& path, const std::string& gate, int count) {
  Resp valkey(path);
  const LeaseCalls calls(gate, "latency" + std::to_string(getpid()) + "-");
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    const auto arguments = calls.acquire(i);
    const std::int64_t start = now_ns();
    const auto grant = valkey.call(arguments);
    took.push_back(now_ns() - start);
    expect(grant, "acquired");
    expect(valkey.call(calls.release(i, grant)), "released");
  }
  print_latency(std::move(took));
}

void daemon(const std::string& path, int count) {
  Worker worker(path);
  const std::string target = "latency" + std::to_string(getpid());
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    const std::string request = acquire_request(target, i);
    const std::int64_t start = now_ns();
    const std::string grant = worker.call(request);
    took.push_back(now_ns() - start);
    expect_code(grant, "lease_acquired");
    expect_code(worker.call(release_request(target, i, grant)), "lease_released");
  }
  print_latency(std::move(took));
}

void ping(const std::string& path, int count) {
  Worker worker(path);
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = now_ns();
    const std::string pong = worker.call(R"({"id":1,"op":"ping"})");
    took.push_back(now_ns() - start);
    expect_code(pong, "pong");
  }
  print_latency(std::move(took));
}

[[noreturn]] void echo_for_ever(int fd) {
  std::array<char, 4096> bytes{};
  while (true) {
    const ssize_t size = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (size <= 0 || ::send(fd, bytes.data(), static_cast<std::size_t>(size), 0) != size) {
      std::_Exit(0);
    }
  }
}

void echo(int count) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) give_up("socketpair");
  if (::fork() == 0) {
    ::close(ends[0]);
    echo_for_ever(ends[1]);
  }
  ::close(ends[1]);
  Socket socket(ends[0]);
  const std::string message(echo_bytes, 'e');
  std::vector<std::int64_t> took;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = now_ns();
    socket.write(message);
    while (socket.unread().size() < message.size()) socket.more();
    took.push_back(now_ns() - start);
    socket.take(message.size());
  }
  print_latency(std::move(took));
}

}  // namespace
}  // namespace starlease::bench

int main(int argc, char** argv) {
  using namespace starlease::bench;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "direct" && argc == 5) {
    direct(argv[2], argv[3], std::atoi(argv[4]));
  } else if (mode == "daemon" && argc == 4) {
    daemon(argv[2], std::atoi(argv[3]));
  } else if (mode == "ping" && argc == 4) {
    ping(argv[2], std::atoi(argv[3]));
  } else if (mode == "echo" && argc == 3) {
    echo(std::atoi(argv[2]));
  } else {
    std::fputs("usage: bench-latency direct|daemon|ping|echo ...\n", stderr);
    return 64;
  }
  return 0;
}

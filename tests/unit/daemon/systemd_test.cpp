// What the service manager is told, and the sockets that it passes in.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "daemon/socket_activation.hpp"
#include "daemon/systemd_notify.hpp"
#include "tests/support/manual.hpp"
#include "tests/support/scratch.hpp"

using namespace starlease;

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int bound(const std::string& path, int type) {
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_un address = address_of(path);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

/// A service manager's notification socket.
class Manager {
 public:
  Manager() : fd_(bound(scratch_.path("notify"), SOCK_DGRAM)) {
    ::setenv("NOTIFY_SOCKET", scratch_.path("notify").c_str(), 1);
  }
  ~Manager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(fd_);
  }
  /// The next message; empty if there is none.
  [[nodiscard]] std::string next() const {
    char text[256] = {};
    const ssize_t size = ::recv(fd_, text, sizeof text, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "";
  }

 private:
  test::Scratch scratch_;
  int fd_;
};

/// Puts `sockets` where a service manager does: from descriptor 3 on.
void pass(const std::vector<std::pair<std::string, int>>& sockets) {
  std::string names;
  int next = 3;
  for (const auto& [name, fd] : sockets) {
    REQUIRE(::fcntl(next, F_GETFD) == -1);
    REQUIRE(::dup2(fd, next++) >= 0);
    names += (names.empty() ? "" : ":") + name;
  }
  ::setenv("LISTEN_FDS", std::to_string(sockets.size()).c_str(), 1);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
}

/// Moves a socket out of the way of descriptor 3.
int high(int fd) {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 100);
  ::close(fd);
  return moved;
}

}  // namespace

TEST_CASE("without a manager nothing is sent and nothing is armed") {
  testing::ManualClock clock;
  testing::ManualTimers timers(clock);
  SystemdNotify notify(clock, timers);
  notify.ready();
  notify.status("x");
  notify.stopping();
  CHECK(timers.armed() == 0);
}

TEST_CASE("the manager hears the stages, and the watchdog twice in its time") {
  const Manager manager;
  ::setenv("WATCHDOG_USEC", "2000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  testing::ManualClock clock;
  testing::ManualTimers timers(clock);
  SystemdNotify notify(clock, timers);
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
  CHECK(manager.next() == "");
  notify.ready();
  CHECK(manager.next() == "READY=1");
  CHECK(manager.next() == "WATCHDOG=1");
  timers.advance(std::chrono::milliseconds(999), [](auto) {});
  CHECK(manager.next() == "");
  timers.advance(std::chrono::milliseconds(1), [](auto) {});
  CHECK(manager.next() == "WATCHDOG=1");
  notify.status("holding 3 leases");
  CHECK(manager.next() == "STATUS=holding 3 leases");
  notify.stopping();
  CHECK(manager.next() == "STOPPING=1");
  timers.advance(std::chrono::seconds(1), [](auto) {});
  CHECK(manager.next() == "WATCHDOG=1");
}

TEST_CASE("passed sockets are known by name, and no child will see them") {
  const test::Scratch scratch;
  const int workers = high(bound(scratch.path("w"), SOCK_STREAM));
  const int admins = high(bound(scratch.path("a"), SOCK_STREAM));
  REQUIRE(::listen(workers, 1) == 0);
  REQUIRE(::listen(admins, 1) == 0);
  pass({{"starleased-admin", admins}, {"other", workers}, {"starleased", workers}});
  {
    const auto passed = take_passed_sockets();
    REQUIRE(passed);
    CHECK(passed->admins->get() == 3);
    CHECK(passed->workers->get() == 5);
    CHECK(passed->unknown == std::vector<std::string>{"other"});
    CHECK(::fcntl(4, F_GETFD) == -1);
    CHECK((::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((::fcntl(5, F_GETFD) & FD_CLOEXEC) != 0);
  }
  for (const char* name : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"})
    CHECK(std::getenv(name) == nullptr);
  const auto again = take_passed_sockets();
  REQUIRE(again);
  CHECK_FALSE(again->workers.has_value());
  ::close(workers);
  ::close(admins);
}

TEST_CASE("a passed descriptor that does not listen, and a name given twice, are refused") {
  const test::Scratch scratch;
  const int idle = high(bound(scratch.path("i"), SOCK_STREAM));
  pass({{"starleased", idle}});
  const auto passed = take_passed_sockets();
  REQUIRE_FALSE(passed);
  CHECK(passed.error().contains("\"starleased\""));
  REQUIRE(::listen(idle, 1) == 0);
  pass({{"starleased", idle}, {"starleased", idle}});
  CHECK_FALSE(take_passed_sockets().has_value());
  ::close(4);
  ::close(idle);
}

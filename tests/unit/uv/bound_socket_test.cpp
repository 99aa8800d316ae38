// The socket's name in the file system: who may take it, how long it may be, how it first appears,
// and who takes it away.
#include "daemon/uv/bound_socket.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/support/scratch.hpp"
#include "tests/unit/uv/world.hpp"

namespace starlease::uv {
namespace {

using starlease::test::Scratch;

/// A plain socket bound at `path`, as another program would.
OwnedFd foreign(const std::string& path, int type = SOCK_STREAM, int backlog = 5) {
  OwnedFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  const auto address = *socket_address(path);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  if (type == SOCK_STREAM) REQUIRE(::listen(fd.get(), backlog) == 0);
  return fd;
}

bool connects(const std::string& path) { return connect_unix(path).has_value(); }

ErrorKind refusal(const std::string& path) {
  const auto bound = BoundSocket::bind({.path = path});
  REQUIRE_FALSE(bound.has_value());
  CAPTURE(bound.error().message);
  CHECK(bound.error().message.find(path) != std::string::npos);
  return bound.error().kind;
}

std::string path_of(const Scratch& folder, std::size_t length, const std::string& last) {
  const std::size_t middle = length - folder.path().size() - 2 - last.size();
  std::filesystem::create_directories(folder.path(std::string(middle, 'd')));
  std::string path = folder.path(std::string(middle, 'd') + "/" + last);
  REQUIRE(path.size() == length);
  return path;
}

// --- hazard 118: stale and live sockets

TEST_CASE("A socket left by kill -9 is replaced at once") {
  const Scratch folder;
  const std::string path = folder.path("s");
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto bound = BoundSocket::bind({.path = path});
      static_cast<void>(::write(ends[1], bound ? "y" : "n", 1) == 1);
      for (;;) ::pause();
    }
    char ready = 0;
    REQUIRE(::read(ends[0], &ready, 1) == 1);
    CHECK(ready == 'y');
    ::close(ends[0]);
    ::close(ends[1]);
    CHECK(connects(path));
    CHECK(refusal(path) == ErrorKind::in_use);
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    CHECK(std::filesystem::exists(path));
    const auto bound = BoundSocket::bind({.path = path});
    REQUIRE(bound.has_value());
    CHECK(connects(path));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("A live instance is not robbed, and its process is named") {
  const Scratch folder;
  const std::string path = folder.path("s");
  const auto first = BoundSocket::bind({.path = path});
  REQUIRE(first.has_value());
  const auto second = BoundSocket::bind({.path = path});
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().kind == ErrorKind::in_use);
  CHECK(second.error().message.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(first->presence() == BoundSocket::Presence::ours);
  CHECK(connects(path));
}

TEST_CASE("Another program's socket is not robbed: live, with a full backlog, or of another type") {
  const Scratch folder;
  const OwnedFd live = foreign(folder.path("live"));
  CHECK(refusal(folder.path("live")) == ErrorKind::in_use);
  CHECK(connects(folder.path("live")));

  const OwnedFd busy = foreign(folder.path("busy"), SOCK_STREAM, 0);
  std::vector<OwnedFd> waiting;
  for (auto peer = connect_unix(folder.path("busy")); peer;
       peer = connect_unix(folder.path("busy"))) {
    waiting.push_back(std::move(*peer));
    REQUIRE(waiting.size() < 100);
  }
  CHECK(refusal(folder.path("busy")) == ErrorKind::in_use);

  const OwnedFd datagram = foreign(folder.path("datagram"), SOCK_DGRAM);
  CHECK(refusal(folder.path("datagram")) == ErrorKind::in_use);
  for (const char* name : {"live", "busy", "datagram"}) {
    CHECK(std::filesystem::is_socket(folder.path(name)));
  }
}

TEST_CASE("A live socket that has the name of our temporary one is not robbed either") {
  const Scratch folder;
  const auto neighbour = BoundSocket::bind({.path = folder.path("s~")});
  REQUIRE(neighbour.has_value());
  const auto bound = BoundSocket::bind({.path = folder.path("s")});
  REQUIRE_FALSE(bound.has_value());
  CHECK(bound.error().kind == ErrorKind::in_use);
  CHECK(connects(folder.path("s~")));
  CHECK(neighbour->presence() == BoundSocket::Presence::ours);
}

TEST_CASE("A temporary name left by a crash is no obstacle") {
  const Scratch folder;
  foreign(folder.path("s~")).reset();
  const auto bound = BoundSocket::bind({.path = folder.path("s")});
  REQUIRE(bound.has_value());
  CHECK_FALSE(std::filesystem::exists(folder.path("s~")));
}

TEST_CASE("A file, a folder, a link, a pipe at the path is never deleted") {
  const Scratch folder;
  folder.write("file", "precious");
  std::filesystem::create_directory(folder.path("folder"));
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("link"));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  for (const char* name : {"file", "folder", "link", "pipe"}) {
    CAPTURE(name);
    CHECK(refusal(folder.path(name)) == ErrorKind::not_a_socket);
    CHECK(std::filesystem::symlink_status(folder.path(name)).type() !=
          std::filesystem::file_type::not_found);
  }
  CHECK(folder.read("file") == "precious");
  CHECK_FALSE(std::filesystem::exists(folder.path("nowhere")));
}

TEST_CASE("A file that has the name of our temporary one is never deleted") {
  const Scratch folder;
  folder.write("s~", "precious");
  CHECK_FALSE(BoundSocket::bind({.path = folder.path("s")}).has_value());
  CHECK(folder.read("s~") == "precious");
}

TEST_CASE("A lock that is a link is not followed") {
  const Scratch folder;
  const std::string victim = folder.write("victim", "precious");
  std::filesystem::create_symlink(victim, folder.path("s.lock"));
  CHECK_FALSE(BoundSocket::bind({.path = folder.path("s")}).has_value());
  CHECK(folder.read("victim") == "precious");
}

// --- hazards 119 and 120: length of a path

TEST_CASE("A path of 107 bytes is used whole; 108 and 200 are refused with the length") {
  const Scratch folder;
  const std::string longest = path_of(folder, 107, "s");
  {
    const auto bound = BoundSocket::bind({.path = longest});
    REQUIRE(bound.has_value());
    CHECK(std::filesystem::is_socket(longest));
    CHECK(connects(longest));
  }
  for (const std::size_t length : {108UL, 200UL}) {
    const std::string path = path_of(folder, length, std::string(length - 100, 's'));
    const std::string said = std::to_string(length) + " bytes";
    const auto bound = BoundSocket::bind({.path = path});
    REQUIRE_FALSE(bound.has_value());
    CHECK(bound.error().kind == ErrorKind::path_too_long);
    CHECK(bound.error().message.find(said) != std::string::npos);
    CHECK(bound.error().message.find(path) != std::string::npos);
    // Somebody listens where a cut path would lead.
    const OwnedFd trap = foreign(path.substr(0, 107));
    const auto connected = connect_unix(path);
    REQUIRE_FALSE(connected.has_value());
    CHECK(connected.error().kind == ErrorKind::path_too_long);
    CHECK(connected.error().message.find(said) != std::string::npos);
    ::unlink(path.substr(0, 107).c_str());
  }
}

TEST_CASE("Two paths that differ only after byte 107 are both refused and make no file") {
  const Scratch folder;
  const std::string first = path_of(folder, 108, "a");
  const std::string second = path_of(folder, 108, "b");
  CHECK(first.substr(0, 107) == second.substr(0, 107));
  CHECK(refusal(first) == ErrorKind::path_too_long);
  CHECK(refusal(second) == ErrorKind::path_too_long);
  CHECK(std::filesystem::is_empty(std::filesystem::path(first).parent_path()));
}

TEST_CASE("An empty path and one with a NUL are refused: neither names an abstract socket") {
  CHECK_FALSE(BoundSocket::bind({.path = ""}).has_value());
  CHECK_FALSE(BoundSocket::bind({.path = std::string("\0abstract", 9)}).has_value());
  CHECK_FALSE(connect_unix(std::string("/tmp/a\0b", 8)).has_value());
}

// --- hazards 123 and 124: mode and owner

/// The folder's files as they were the first time they were seen under `path`.
struct FirstSight {
  struct stat seen{};
  bool connected = false;
};

/// Binds while another thread looks for the path without pause.
FirstSight first_sight(const SocketSpec& spec) {
  FirstSight first;
  std::atomic<bool> looking = false;
  std::thread watcher([&] {
    do {
      looking = true;
    } while (::lstat(spec.path.c_str(), &first.seen) != 0);
    first.connected = connects(spec.path);
  });
  while (!looking) std::this_thread::yield();
  const auto bound = BoundSocket::bind(spec);
  CHECK(bound.has_value());
  if (!bound) ::creat(spec.path.c_str(), 0);  // lets the watcher end
  watcher.join();
  return first;
}

TEST_CASE("Mode and owner are right, and somebody listens, at the first instant") {
  const bool root = ::geteuid() == 0;
  const Scratch folder;
  for (const mode_t umask : {mode_t{0}, mode_t{0077}, mode_t{0777}}) {
    const mode_t before = ::umask(umask);
    for (int round = 0; round < 50; ++round) {
      for (const mode_t mode : {mode_t{0600}, mode_t{0660}, mode_t{0666}}) {
        SocketSpec spec{.path = folder.path("s"), .mode = mode};
        if (root) spec.owner = 12'345;
        if (root) spec.group = 23'456;
        const FirstSight first = first_sight(spec);
        CHECK((first.seen.st_mode & 07777) == mode);
        CHECK(S_ISSOCK(first.seen.st_mode));
        CHECK(first.connected);
        if (root) CHECK(first.seen.st_uid == 12'345);
        if (root) CHECK(first.seen.st_gid == 23'456);
      }
    }
    CHECK(::umask(before) == umask);  // bind() leaves it as it was
  }
}

TEST_CASE("The path appears by one rename and is not touched afterwards") {
  const Scratch folder;
  const OwnedFd events(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  REQUIRE(::inotify_add_watch(events.get(), folder.path().c_str(),
                              IN_CREATE | IN_ATTRIB | IN_MOVED_TO) >= 0);
  const auto bound = BoundSocket::bind({.path = folder.path("s"), .mode = 0666});
  REQUIRE(bound.has_value());
  alignas(inotify_event) char buffer[4096];
  const ssize_t got = ::read(events.get(), buffer, sizeof buffer);
  REQUIRE(got > 0);
  std::vector<std::uint32_t> masks;
  for (ssize_t at = 0; at < got;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
    if (event->len > 0 && std::strcmp(event->name, "s") == 0) masks.push_back(event->mask);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  CHECK(masks == std::vector<std::uint32_t>{IN_MOVED_TO});
}

TEST_CASE("The mode holds on every file system that is there to try") {
  int tried = 0;
  for (const char* place : {"/tmp", "/dev/shm", "/run", "/var/tmp"}) {
    const std::string path = std::string(place) + "/starlease-mode-" + std::to_string(::getpid());
    if (::access(place, W_OK) != 0) continue;
    CAPTURE(path);
    for (const mode_t mode : {mode_t{0600}, mode_t{0660}, mode_t{0666}}) {
      const auto bound = BoundSocket::bind({.path = path, .mode = mode});
      REQUIRE(bound.has_value());
      struct stat found{};
      REQUIRE(::lstat(path.c_str(), &found) == 0);
      CHECK((found.st_mode & 0777) == mode);
      ++tried;
    }
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK(tried >= 3);
}

TEST_CASE("An owner that cannot be given is an error, and leaves no socket") {
  if (::geteuid() != 0) return;
  const Scratch folder;
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool dropped = ::setuid(65'534) == 0;
    const auto bound = BoundSocket::bind({.path = folder.path("s"), .owner = 0});
    ::_exit(dropped && !bound.has_value() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

// --- hazards 121 and 126: the end of a path

TEST_CASE("An old instance's end does not remove the new one's path") {
  const Scratch folder;
  const std::string path = folder.path("s");
  for (const bool lock_too : {true, false}) {
    CAPTURE(lock_too);
    auto old = std::make_unique<BoundSocket>(std::move(*BoundSocket::bind({.path = path})));
    // Somebody clears the folder, or moves a socket of his own into place.
    ::unlink(path.c_str());
    if (lock_too) ::unlink((path + ".lock").c_str());
    OwnedFd other;
    std::unique_ptr<BoundSocket> fresh;
    if (lock_too) {
      fresh = std::make_unique<BoundSocket>(std::move(*BoundSocket::bind({.path = path})));
    } else {
      other = foreign(path);
    }
    CHECK(old->presence() == BoundSocket::Presence::replaced);
    old->remove_path();
    old.reset();
    CHECK(connects(path));
    if (fresh) {
      CHECK(fresh->presence() == BoundSocket::Presence::ours);
      CHECK(refusal(path) == ErrorKind::in_use);  // its lock is still there, too
    }
    other.reset();
    fresh.reset();
    ::unlink(path.c_str());
  }
}

TEST_CASE("A clean end removes the path and the lock; a second end removes nothing more") {
  const Scratch folder;
  {
    auto bound = std::move(*BoundSocket::bind({.path = folder.path("s")}));
    bound.remove_path();
    CHECK_FALSE(std::filesystem::exists(folder.path("s")));
    const OwnedFd other = foreign(folder.path("s"));
    bound.remove_path();
    CHECK(connects(folder.path("s")));
  }
  CHECK(std::filesystem::is_socket(folder.path("s")));
  CHECK_FALSE(std::filesystem::exists(folder.path("s.lock")));
}

TEST_CASE("A path that was taken away is bound again, and a lock with it") {
  const Scratch folder;
  auto bound = std::move(*BoundSocket::bind({.path = folder.path("s"), .mode = 0606}));
  std::filesystem::remove(folder.path("s"));
  std::filesystem::remove(folder.path("s.lock"));
  CHECK(bound.presence() == BoundSocket::Presence::missing);
  const auto old = bound.heal();
  REQUIRE(old.has_value());
  CHECK(bound.presence() == BoundSocket::Presence::ours);
  CHECK(connects(folder.path("s")));
  CHECK(refusal(folder.path("s")) == ErrorKind::in_use);
  struct stat found{};
  REQUIRE(::lstat(folder.path("s").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0606);
}

TEST_CASE("A folder that is not there, or not ours, is an error that says so") {
  const Scratch folder;
  const auto bound = BoundSocket::bind({.path = folder.path("no/s")});
  REQUIRE_FALSE(bound.has_value());
  CHECK(bound.error().message.find("must exist and be writable") != std::string::npos);
}

}  // namespace
}  // namespace starlease::uv

// Accepting: nobody is lost when listeners change, descriptors come back, running out of them is a
// pause, and a path that vanished is healed.
#include "daemon/uv/unix_listener.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <filesystem>

#include "tests/support/scratch.hpp"
#include "tests/unit/uv/streams.hpp"

namespace starlease::uv {
namespace {

using namespace test;
using starlease::test::Scratch;

/// Accepts, says "hi", and keeps until the peer goes.
class Doorman {
 public:
  base::Listener::Accept open() {
    return [this](std::unique_ptr<base::ByteStream> stream) {
      ++accepted;
      auto guest = std::make_unique<Guest>();
      guest->stream = std::move(stream);
      guest->reader.when_closed = [raw = guest.get()] { raw->stream.reset(); };
      guest->stream->start(guest->reader);
      static_cast<void>(guest->stream->write("hi"));
      guests_.push_back(std::move(guest));
      if (guests_.size() > 64) std::erase_if(guests_, [](const auto& g) { return !g->stream; });
    };
  }
  std::size_t accepted = 0;

 private:
  struct Guest {
    Reader reader;
    std::unique_ptr<base::ByteStream> stream;
  };
  std::vector<std::unique_ptr<Guest>> guests_;
};

struct DoorWorld : StreamWorld {
  explicit DoorWorld(const ConnectionLimits& limits = {}) : StreamWorld(limits) {}
  [[nodiscard]] std::unique_ptr<UnixListener> bind(const std::string& path) {
    auto made = UnixListener::bind(connections, {.path = path});
    REQUIRE(made.has_value());
    (*made)->start(door.open());
    return std::move(*made);
  }
  /// Turns the loop until `peer` has been greeted.
  bool greeted(const OwnedFd& peer, Milliseconds limit = Milliseconds(3000)) {
    std::string heard;
    return until(
        [&] {
          char buffer[8];
          const ssize_t got = ::recv(peer.get(), buffer, sizeof buffer, MSG_DONTWAIT);
          if (got > 0) heard.append(buffer, static_cast<std::size_t>(got));
          return heard == "hi";
        },
        limit);
  }
  /// True if the other end has been closed.
  static bool turned_away(const OwnedFd& peer) {
    char byte = 0;
    return ::recv(peer.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }
  Doorman door;
  Scratch folder;
};

OwnedFd must_connect(const std::string& path) {
  auto peer = connect_unix(path);
  REQUIRE(peer.has_value());
  return std::move(*peer);
}

/// A listening socket as a service manager would make and keep it.
OwnedFd managed(const std::string& path) {
  OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  const auto address = *socket_address(path);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd.get(), 128) == 0);
  return fd;
}

TEST_CASE("A listener accepts all who wait, also from inside accept until it is stopped") {
  DoorWorld world;
  auto listener = world.bind(world.folder.path("s"));
  std::vector<OwnedFd> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(must_connect(world.folder.path("s")));
  for (const OwnedFd& peer : peers) CHECK(world.greeted(peer));
  CHECK(world.door.accepted == 200);
  listener->stop();
  CHECK_FALSE(connect_unix(world.folder.path("s")).has_value());
  CHECK(world.connections.open() == 200);
}

TEST_CASE("A listener may be stopped from inside accept, and accepts no more") {
  DoorWorld world;
  auto listener =
      std::move(*UnixListener::bind(world.connections, {.path = world.folder.path("s")}));
  int accepted = 0;
  listener->start([&](std::unique_ptr<base::ByteStream>) {
    ++accepted;
    listener->stop();
  });
  const OwnedFd first = must_connect(world.folder.path("s"));
  const OwnedFd second = must_connect(world.folder.path("s"));
  REQUIRE(world.until([&] { return accepted > 0; }));
  world.pass(Milliseconds(5));
  CHECK(accepted == 1);
}

// Hazard 121: with a socket that is handed on, old and new overlap a hundred times.
TEST_CASE("Handing the socket on a hundred times, the path always connects and nobody is lost") {
  DoorWorld world;
  const std::string path = world.folder.path("s");
  const OwnedFd manager = managed(path);
  const auto adopt = [&] {
    auto made = UnixListener::adopt(world.connections, OwnedFd(::dup(manager.get())));
    REQUIRE(made.has_value());
    (*made)->start(world.door.open());
    return std::move(*made);
  };
  auto current = adopt();
  std::vector<OwnedFd> peers;
  for (int i = 0; i < 100; ++i) {
    peers.push_back(must_connect(path));  // waits while both listen
    auto next = adopt();
    peers.push_back(must_connect(path));
    if (i % 2 == 0) world.loop->run_once();
    current = std::move(next);  // the old one closes
    CHECK(std::filesystem::is_socket(path));
    peers.push_back(must_connect(path));
  }
  for (const OwnedFd& peer : peers) CHECK(world.greeted(peer));
  CHECK(world.door.accepted == 300);
}

// Hazard 121: an old listener whose path was taken over does not unlink it.
TEST_CASE("Stopping an old listener leaves the new one's path") {
  DoorWorld world;
  const std::string path = world.folder.path("s");
  for (int i = 0; i < 100; ++i) {
    auto old = world.bind(path);
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
    const auto fresh = world.bind(path);
    old->stop();
    old.reset();
    CHECK(world.greeted(must_connect(path)));
  }
}

// Hazard 122: a socket that was passed in is not unlinked, whatever way we end.
TEST_CASE("A passed socket's path survives stop and destruction, and serves the next") {
  DoorWorld world;
  const std::string path = world.folder.path("s");
  const OwnedFd manager = managed(path);
  for (const bool stop_first : {true, false}) {
    auto made = UnixListener::adopt(world.connections, OwnedFd(::dup(manager.get())));
    REQUIRE(made.has_value());
    (*made)->start(world.door.open());
    CHECK(world.greeted(must_connect(path)));
    if (stop_first) (*made)->stop();
    made->reset();
    CHECK(std::filesystem::is_socket(path));
    CHECK_FALSE(std::filesystem::exists(path + ".lock"));
    const OwnedFd waits = must_connect(path);  // in the manager's backlog
    CHECK_FALSE(DoorWorld::turned_away(waits));
  }
}

TEST_CASE("Only a listening Unix stream socket is adopted") {
  DoorWorld world;
  const std::size_t before = open_files();
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  const OwnedFd far(pair[1]);
  const auto refused = [&](int fd) {
    const auto made = UnixListener::adopt(world.connections, OwnedFd(fd));
    return !made.has_value() && made.error().kind == ErrorKind::not_listening;
  };
  CHECK(refused(pair[0]));
  CHECK(refused(::socket(AF_UNIX, SOCK_STREAM, 0)));
  CHECK(refused(::socket(AF_UNIX, SOCK_DGRAM, 0)));
  CHECK(refused(::open("/dev/null", O_RDONLY)));
  CHECK(refused(::socket(AF_INET, SOCK_STREAM, 0)));
  CHECK(open_files() == before + 1);
}

// Hazard 135: what was passed in is not passed on.
TEST_CASE("An adopted socket is closed on exec") {
  DoorWorld world;
  const OwnedFd manager = managed(world.folder.path("s"));
  const int passed = ::dup(manager.get());
  REQUIRE((::fcntl(passed, F_GETFD) & FD_CLOEXEC) == 0);
  const auto made = UnixListener::adopt(world.connections, OwnedFd(passed));
  REQUIRE(made.has_value());
  CHECK((::fcntl(passed, F_GETFD) & FD_CLOEXEC) != 0);
}

// Hazard 128: connections of every kind of end, a hundred thousand of them.
TEST_CASE("Descriptors and memory of peers come back to their base") {
  DoorWorld world;
  const auto listener = world.bind(world.folder.path("s"));
  world.pass(Milliseconds(1));
  const std::size_t base = open_files();
  for (int i = 0; i < 100'000; i += 50) {
    std::vector<OwnedFd> peers;
    for (int j = 0; j < 50; ++j) {
      peers.push_back(must_connect(world.folder.path("s")));
      if (j % 3 == 1) REQUIRE(::send(peers.back().get(), "\0\0", 2, MSG_NOSIGNAL) == 2);
      if (j % 3 == 2) REQUIRE(::shutdown(peers.back().get(), SHUT_WR) == 0);
    }
    // A third stays idle until the test goes, the half-closed ones are closed by us.
    peers.clear();
    world.loop->run_once();
  }
  REQUIRE(world.until([&] { return world.door.accepted == 100'000; }));
  CHECK(world.until([&] { return world.connections.open() == 0; }));
  CHECK(open_files() == base);
}

TEST_CASE("More connections than allowed are turned away, and places become free") {
  ConnectionLimits limits;
  limits.max_connections = 2;
  DoorWorld world(limits);
  const auto listener = world.bind(world.folder.path("s"));
  OwnedFd first = must_connect(world.folder.path("s"));
  const OwnedFd second = must_connect(world.folder.path("s"));
  CHECK(world.greeted(first));
  CHECK(world.greeted(second));
  for (int i = 0; i < 50; ++i) {
    const OwnedFd extra = must_connect(world.folder.path("s"));
    CHECK(world.until([&] { return DoorWorld::turned_away(extra); }));
  }
  CHECK(world.log.count("too many") == 1);
  first.reset();
  REQUIRE(world.until([&] { return world.connections.open() == 1; }));
  CHECK(world.greeted(must_connect(world.folder.path("s"))));
}

/// Takes every descriptor up to a low limit, and gives them back.
class Drought {
 public:
  Drought() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit low = before_;
    low.rlim_cur = 200;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) hoard_.emplace_back(fd);
    REQUIRE(errno == EMFILE);
  }
  Drought(const Drought&) = delete;
  Drought& operator=(const Drought&) = delete;
  ~Drought() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  void end() { hoard_.clear(); }

 private:
  rlimit before_{};
  std::vector<OwnedFd> hoard_;
};

std::chrono::microseconds cpu_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Hazard 129: no descriptor is left.
TEST_CASE("Running out of descriptors is a pause: no spinning, little log, and then service") {
  DoorWorld world;
  const auto listener = world.bind(world.folder.path("s"));
  // Their sockets are there before the drought; connecting costs the listener's side one more.
  std::vector<OwnedFd> peers;
  const auto address = *socket_address(world.folder.path("s"));
  for (int i = 0; i < 60; ++i) {
    peers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  }
  Drought drought;
  for (const OwnedFd& peer : peers) {
    REQUIRE(::connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
  }
  const auto cpu_before = cpu_time();
  world.pass(Milliseconds(1000));
  CHECK(cpu_time() - cpu_before < Milliseconds(50));  // under 5 %
  CHECK(world.door.accepted == 0);
  CHECK(world.log.count("cannot accept") == 1);
  CHECK(world.log.has("Too many open files"));
  // Some were turned away and know it, instead of all of them waiting for ever.
  const auto away = std::ranges::count_if(peers, DoorWorld::turned_away);
  CHECK(away >= 5);
  CHECK(away <= 12);
  drought.end();
  CHECK(world.until([&] { return world.door.accepted + static_cast<std::size_t>(away) == 60; }));
  CHECK(world.greeted(peers.back()));
}

// Hazard 126: a cleaner of old files takes the path away.
TEST_CASE("A path that was deleted is back within seconds; those connected and waiting stay") {
  DoorWorld world;
  const std::string path = world.folder.path("s");
  const auto listener = world.bind(path);
  const OwnedFd before = must_connect(path);
  CHECK(world.greeted(before));
  std::filesystem::remove(path);
  REQUIRE(world.until([&] { return std::filesystem::is_socket(path); }));
  CHECK(world.log.has("socket path was gone"));
  CHECK(world.greeted(must_connect(path)));
  CHECK_FALSE(DoorWorld::turned_away(before));
  CHECK(world.connections.open() >= 1);
}

TEST_CASE("A path that names somebody else's file is left alone, and said") {
  DoorWorld world;
  const std::string path = world.folder.path("s");
  {
    const auto listener = world.bind(path);
    std::filesystem::remove(path);
    world.folder.write("s", "precious");
    REQUIRE(world.until([&] { return world.log.has("socket path"); }));
  }
  CHECK(world.folder.read("s") == "precious");
}

}  // namespace
}  // namespace starlease::uv

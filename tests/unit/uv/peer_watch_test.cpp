// The end of the process behind a connection, also when somebody else keeps the socket open.
#include "daemon/uv/peer_watch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <utility>

#include "daemon/uv/unix_listener.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/uv/streams.hpp"

namespace starlease::uv {
namespace {

using namespace test;

/// A process that connects `times`, says one word on each, and stays until it is killed. With
/// `heir` its child inherits the sockets and lives on, until this object goes.
class Worker {
 public:
  /// Returns when all is said.
  Worker(const std::string& path, int times, bool heir = false) {
    int life[2];
    int said[2];
    REQUIRE(::pipe2(life, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(said, O_CLOEXEC) == 0);
    const OwnedFd life_in(life[0]);
    keeps_heir_ = OwnedFd(life[1]);
    const OwnedFd said_in(said[0]);
    OwnedFd said_out(said[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      keeps_heir_.reset();
      live(path, times, heir ? life_in.get() : -1, said_out.get());
    }
    said_out.reset();
    char byte = 0;
    REQUIRE(::read(said_in.get(), &byte, 1) == 1);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[noreturn]] static void live(const std::string& path, int times, int heir_life, int said) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<OwnedFd> sockets;
    for (int i = 0; i < times; ++i) {
      auto socket = connect_unix(path);
      if (!socket) ::_exit(1);
      sockets.push_back(std::move(*socket));
    }
    if (heir_life >= 0 && ::fork() == 0) {
      ::close(said);
      char byte = 0;
      static_cast<void>(::read(heir_life, &byte, 1) == 0);
      ::_exit(0);
    }
    for (const OwnedFd& socket : sockets) static_cast<void>(::write(socket.get(), "word", 4) == 4);
    static_cast<void>(::write(said, "!", 1) == 1);
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
  OwnedFd keeps_heir_;
};

struct Accepted {
  std::unique_ptr<base::ByteStream> stream;
  Reader reader;
};

/// A listener that keeps whoever connects.
struct PeerWorld : StreamWorld {
  explicit PeerWorld(const ConnectionLimits& limits = {}) : StreamWorld(limits) {
    listener = std::move(*UnixListener::bind(connections, {.path = folder.path("s")}));
    listener->start([this](std::unique_ptr<base::ByteStream> stream) {
      accepted.push_back(std::make_unique<Accepted>());
      accepted.back()->stream = std::move(stream);
      accepted.back()->stream->start(accepted.back()->reader);
    });
  }
  /// Waits for `number` connections that have said their word.
  void await(std::size_t number) {
    REQUIRE(until([&] {
      return accepted.size() == number &&
             std::ranges::all_of(accepted, [](auto& a) { return a->reader.got == "word"; });
    }));
  }
  [[nodiscard]] std::size_t closed() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(accepted, [](const auto& a) { return a->reader.closed == 1; }));
  }
  starlease::test::Scratch folder;
  std::unique_ptr<UnixListener> listener;
  std::vector<std::unique_ptr<Accepted>> accepted;
};

TEST_CASE("A watched peer's death ends its connection although its child keeps the socket open") {
  PeerWorld world;
  Worker worker(world.folder.path("s"), 1, true);
  world.await(1);
  CHECK(world.accepted[0]->stream->peer().pid == worker.pid());
  world.accepted[0]->stream->watch_peer();
  world.accepted[0]->stream->watch_peer();
  CHECK(world.connections.peers().processes() == 1);
  worker.kill();
  REQUIRE(world.until([&] { return world.closed() == 1; }));
  CHECK(world.connections.peers().processes() == 0);
}

TEST_CASE("An unwatched peer's death is not seen while its child keeps the socket open") {
  PeerWorld world;
  Worker worker(world.folder.path("s"), 1, true);
  world.await(1);
  worker.kill();
  world.pass(Milliseconds(20));
  CHECK(world.closed() == 0);
}

TEST_CASE("Watching a peer that has died already ends the connection on a later turn") {
  PeerWorld world;
  Worker worker(world.folder.path("s"), 1, true);
  world.await(1);
  worker.kill();
  world.accepted[0]->stream->watch_peer();
  CHECK(world.closed() == 0);
  REQUIRE(world.until([&] { return world.closed() == 1; }));
}

TEST_CASE("What a peer sent before it died is handed on first") {
  PeerWorld world;
  auto& accepted = world.accepted;
  Worker worker(world.folder.path("s"), 1, true);
  REQUIRE(world.until([&] { return accepted.size() == 1; }));
  // The word may lie unread in the socket when both the death and it are found in one turn.
  accepted[0]->stream->watch_peer();
  worker.kill();
  REQUIRE(world.until([&] { return world.closed() == 1; }));
  CHECK(accepted[0]->reader.got == "word");
}

TEST_CASE("Connections of one process share one descriptor, and each is told of its end") {
  PeerWorld world;
  Worker worker(world.folder.path("s"), 10, true);
  Worker other(world.folder.path("s"), 1);
  world.await(11);
  const std::size_t before = open_files();
  for (const auto& accepted : world.accepted) accepted->stream->watch_peer();
  CHECK(world.connections.peers().processes() == 2);
  CHECK(open_files() == before + 2);
  // One of them goes before; one is destroyed by the first that is told.
  auto own = [&](std::size_t i) { return world.accepted[i]->stream->peer().pid == worker.pid(); };
  std::vector<std::size_t> mine;
  for (std::size_t i = 0; i < 11; ++i) {
    if (own(i)) mine.push_back(i);
  }
  REQUIRE(mine.size() == 10);
  world.accepted[mine[9]]->stream->close();
  world.accepted[mine[0]]->reader.when_closed = [&] { world.accepted[mine[1]]->stream.reset(); };
  worker.kill();
  REQUIRE(world.until([&] { return world.closed() == 9; }));
  world.pass(Milliseconds(2));
  CHECK(world.closed() == 9);
  CHECK(world.connections.open() == 1);
  CHECK(world.connections.peers().processes() == 1);
}

TEST_CASE("Past the bound on watched processes connections work on, and it is said") {
  ConnectionLimits limits;
  limits.max_watched_peers = 1;
  PeerWorld world(limits);
  Worker first(world.folder.path("s"), 1);
  world.await(1);
  Worker second(world.folder.path("s"), 1);
  world.await(2);
  for (const auto& accepted : world.accepted) accepted->stream->watch_peer();
  CHECK(world.connections.peers().processes() == 1);
  CHECK(world.log.has("peer process is not watched"));
  second.kill();
  REQUIRE(world.until([&] { return world.accepted[1]->reader.closed == 1; }));  // by its socket
  first.kill();
  REQUIRE(world.until([&] { return world.closed() == 2; }));
}

TEST_CASE("A watch that was stopped or destroyed is not told") {
  PeerWorld world;
  Worker worker(world.folder.path("s"), 1, true);
  world.await(1);
  auto socket = connect_unix(world.folder.path("s"));
  REQUIRE(socket.has_value());
  REQUIRE(world.until([&] { return world.accepted.size() == 2; }));
  world.accepted[0]->stream->watch_peer();
  world.accepted[0]->stream.reset();
  CHECK(world.connections.peers().processes() == 0);
  worker.kill();
  world.pass(Milliseconds(10));
  CHECK(world.closed() == 0);
}

}  // namespace
}  // namespace starlease::uv

// Children: how they end, what they inherit, and that they do not outlive us.
#include "daemon/uv/child_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "daemon/uv/bound_socket.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/uv/world.hpp"

namespace starlease::uv {
namespace {

using namespace test;

ChildSpec shell(const std::string& script) { return {"sh", {"-c", script}}; }

/// Runs a script to its end.
ChildExit finish(World& world, const std::string& script) {
  std::optional<ChildExit> ended;
  auto child =
      ChildProcess::spawn(*world.loop, shell(script), [&](const ChildExit& exit) { ended = exit; });
  REQUIRE(child.has_value());
  REQUIRE(world.until([&] { return ended.has_value(); }));
  return *ended;
}

TEST_CASE("A child's exit code or its signal is told once, on the loop") {
  World world;
  CHECK(finish(world, "exit 0").status == 0);
  CHECK(finish(world, "exit 7").status == 7);
  const ChildExit killed = finish(world, "kill -9 $$");
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.status == 0);
}

TEST_CASE("A program that cannot be run is an error of spawn(), and leaves nothing behind") {
  World world;
  const std::size_t before = open_files();
  const auto refused = ChildProcess::spawn(*world.loop, {"/nowhere/program", {}},
                                           [](const ChildExit&) { FAIL("told of an end"); });
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().errno_value == ENOENT);
  CHECK(refused.error().message.find("/nowhere/program") != std::string::npos);
  world.pass(Milliseconds(2));
  CHECK(open_files() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // reaped
}

TEST_CASE("A child may be destroyed from inside its own end, and kills what still runs") {
  World world;
  std::unique_ptr<ChildProcess> child;
  bool ended = false;
  child = std::move(*ChildProcess::spawn(*world.loop, shell("exit 1"), [&](const ChildExit&) {
    child.reset();
    ended = true;
  }));
  REQUIRE(world.until([&] { return ended; }));
  CHECK_FALSE(child);

  child = std::move(*ChildProcess::spawn(*world.loop, {"sleep", {"600"}},
                                         [](const ChildExit&) { FAIL("told of an end"); }));
  const int pid = child->pid();
  CHECK(::kill(pid, 0) == 0);
  child.reset();
  CHECK(::kill(pid, 0) == -1);
  world.pass(Milliseconds(2));
}

TEST_CASE("A child is asked to end by a signal") {
  World world;
  std::optional<ChildExit> ended;
  const auto child = ChildProcess::spawn(*world.loop, {"sleep", {"600"}},
                                         [&](const ChildExit& exit) { ended = exit; });
  REQUIRE(child.has_value());
  (*child)->kill(SIGTERM);
  REQUIRE(world.until([&] { return ended.has_value(); }));
  CHECK(ended->signal == SIGTERM);
  (*child)->kill(SIGTERM);  // it is reaped: the number may be another's by now
}

// Hazard 135: neither a listening socket nor any other descriptor of ours reaches a child.
TEST_CASE("A child inherits no descriptor but the three standard ones") {
  // What whoever started the tests left open is not ours.
  for (int fd = 3; fd < 64; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  World world;
  const starlease::test::Scratch folder;
  auto listening = BoundSocket::bind({.path = folder.path("s")});
  REQUIRE(listening.has_value());
  finish(world, "for fd in /proc/self/fd/*; do readlink $fd; done > " + folder.path("open") +
                    "; ls /proc/$$/fd | tr '\\n' ' ' > " + folder.path("numbers"));
  const std::string open = folder.read("open");
  CAPTURE(open);
  CHECK(open.find("socket:") == std::string::npos);
  CHECK(open.find("anon_inode") == std::string::npos);
  const std::string numbers = folder.read("numbers");
  CAPTURE(numbers);
  CHECK(numbers.substr(0, 6) == "0 1 2 ");
  // dash keeps what it redirects at 10 and above.
  for (const char* ours : {" 3 ", " 4 ", " 5 ", " 6 ", " 7 ", " 8 ", " 9 "}) {
    CHECK(numbers.find(ours) == std::string::npos);
  }
}

TEST_CASE("A child's signals are as a program expects them") {
  World world;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::signal(SIGPIPE, SIG_IGN);
  REQUIRE(::sigprocmask(SIG_BLOCK, &all, &before) == 0);
  const starlease::test::Scratch folder;
  finish(world, "grep -E 'SigBlk|SigIgn' /proc/self/status > " + folder.path("status"));
  REQUIRE(::sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
  const std::string status = folder.read("status");
  CAPTURE(status);
  CHECK(status.find("SigBlk:\t0000000000000000") != std::string::npos);
  const auto ignored = std::stoull(status.substr(status.find("SigIgn:\t") + 8), nullptr, 16);
  CHECK((ignored & (1ULL << (SIGPIPE - 1))) == 0);
}

TEST_CASE("A child dies with us, also when we are killed") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const OwnedFd in(ends[0]);
  OwnedFd out(ends[1]);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    World world;
    // The grandchild keeps `numbered` open as standard error until it is dead.
    ::dup2(out.get(), STDERR_FILENO);
    const auto child =
        ChildProcess::spawn(*world.loop, {"sleep", {"600"}}, [](const ChildExit&) {});
    const int pid = (*child)->pid();
    static_cast<void>(::write(out.get(), &pid, sizeof pid) == 0);
    for (;;) ::pause();
  }
  out.reset();
  int pid = 0;
  REQUIRE(::read(in.get(), &pid, sizeof pid) == sizeof pid);
  CHECK(::kill(pid, 0) == 0);
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  // End of file comes when the last one who had the write end is gone.
  pollfd end{.fd = in.get(), .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&end, 1, 5000) == 1);
  char byte = 0;
  CHECK(::read(in.get(), &byte, 1) == 0);
}

}  // namespace
}  // namespace starlease::uv

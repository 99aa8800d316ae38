// A link against a scripted server: connecting, calls and their deadlines, ends of every kind.
#include "daemon/valkey/link.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <optional>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/reply.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/valkey/scripted_server.hpp"
#include "tests/unit/valkey/world.hpp"

namespace starlease::valkey {
namespace {

using namespace test;

std::string command(std::string_view name) { return Command(name).finish(); }

/// Remembers how a call ended.
struct Ending {
  Answered hear() {
    return [this](const CallAnswer& answer) {
      ++times;
      end = answer.end;
      if (answer.reply == nullptr) return;
      text = text_of(*answer.reply).value_or(error_text(*answer.reply).value_or("?"));
    };
  }
  int times = 0;
  std::optional<CallEnd> end;
  std::string text;
};

/// A link to a scripted server, with short times.
struct Setup {
  explicit Setup(ScriptedServer::Handler handler = nullptr)
      : server(world, scratch.path("s"), std::move(handler)) {
    endpoint.unix_path = scratch.path("s");
    endpoint.connect_timeout = Milliseconds(500);
    endpoint.dead_after = Milliseconds(400);
    endpoint.ping_every = Milliseconds(60'000);
    endpoint.reconnect_min = Milliseconds(5);
    endpoint.reconnect_max = Milliseconds(50);
  }
  void start() {
    link.emplace(world.seams(), endpoint, "test", owner);
    link->start();
  }
  void connect() {
    start();
    REQUIRE(world.until([&] { return owner.ups == 1; }));
  }

  World world;
  starlease::test::Scratch scratch;
  ScriptedServer server;
  Endpoint endpoint;
  CountingOwner owner;
  std::optional<Link> link;
};

void echo(Peer& peer, const Words& words) { peer.write("+" + words[0] + "\r\n"); }

TEST_CASE("Link is up only when HELLO was answered, and answers calls in order") {
  Setup s;
  s.server.greets = false;
  s.start();
  REQUIRE(s.world.until([&] { return !s.server.seen.empty(); }));
  CHECK(s.server.seen[0] == "HELLO");
  CHECK_FALSE(s.link->up());
  s.server.newest().write(hello_reply);
  REQUIRE(s.world.until([&] { return s.owner.ups == 1; }));
  s.server.on_command(echo);
  Ending a, b;
  s.link->call(command("A"), s.world.in(Milliseconds(1000)), a.hear());
  s.link->call(command("B"), s.world.in(Milliseconds(1000)), b.hear());
  CHECK(s.link->pending() == 2);
  CHECK(a.times == 0);
  REQUIRE(s.world.until([&] { return b.times == 1; }));
  CHECK(a.text == "A");
  CHECK(b.text == "B");
  CHECK(s.link->pending() == 0);
}

TEST_CASE("Link says why HELLO was refused, and tries again") {
  Setup s;
  s.server.greets = false;
  s.server.on_command([](Peer& peer, const Words&) {
    peer.write("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  });
  s.start();
  REQUIRE(s.world.until([&] { return s.owner.failures == 3; }));
  CHECK(s.owner.last.what.find("WRONGPASS") != std::string::npos);
  CHECK(s.owner.last.remedy.find("password") != std::string::npos);
  CHECK(s.owner.ups == 0);
  CHECK(s.world.log.count("no connection to Valkey") == 1);  // the same reason is logged once
}

TEST_CASE("Link refuses a greeting that is no RESP3 map") {
  for (const char* reply :
       {"+OK\r\n", "*0\r\n", "%0\r\n", "_\r\n", "%1\r\n$5\r\nproto\r\n:2\r\n"}) {
    Setup s;
    s.server.greets = false;
    s.server.on_command([reply](Peer& peer, const Words&) { peer.write(reply); });
    s.start();
    REQUIRE(s.world.until([&] { return s.owner.failures == 1; }));
    CHECK(s.owner.ups == 0);
  }
}

TEST_CASE("A call on a link that is down is not sent, and told on a later turn") {
  Setup s;
  s.start();
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(1000)), call.hear());
  CHECK(call.times == 0);
  CHECK(s.link->pending() == 1);
  REQUIRE(s.world.until([&] { return call.times == 1; }));
  CHECK(call.end == CallEnd::not_sent);
  CHECK(s.link->pending() == 0);
}

TEST_CASE("A call whose deadline has passed is not written") {
  Setup s(echo);
  s.connect();
  Ending call;
  s.link->call(command("A"), s.world.clock.boot_now(), call.hear());
  CHECK(call.times == 0);
  REQUIRE(s.world.until([&] { return call.times == 1; }));
  CHECK(call.end == CallEnd::expired_unsent);
  CHECK(s.server.seen == Words{"HELLO"});
}

TEST_CASE(
    "One call's deadline never fails a neighbour, and its late reply is not the neighbour's") {
  Setup s;
  std::vector<std::string> held;
  s.server.on_command([&](Peer&, const Words& words) { held.push_back(words[0]); });
  s.endpoint.dead_after = Milliseconds(3000);
  s.connect();
  Ending slow, next, last;
  s.link->call(command("SLOW"), s.world.in(Milliseconds(60)), slow.hear());
  s.link->call(command("NEXT"), s.world.in(Milliseconds(2000)), next.hear());
  REQUIRE(s.world.until([&] { return slow.times == 1; }));
  CHECK(slow.end == CallEnd::expired_sent);
  CHECK(next.times == 0);
  CHECK(s.link->up());
  s.link->call(command("LAST"), s.world.in(Milliseconds(2000)), last.hear());
  REQUIRE(s.world.until([&] { return held.size() == 3; }));
  s.server.newest().write("+slow\r\n+next\r\n+last\r\n");
  REQUIRE(s.world.until([&] { return last.times == 1; }));
  CHECK(slow.times == 1);
  CHECK(next.text == "next");
  CHECK(last.text == "last");
  CHECK(s.owner.downs == 0);
}

TEST_CASE("A silent server is given up after dead_after, and its calls are unanswered") {
  Setup s([](Peer&, const Words&) {});
  s.connect();
  const BootTime began = s.world.clock.boot_now();
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(60'000)), call.hear());
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
  const auto took = s.world.clock.boot_now() - began;
  CHECK(took >= Milliseconds(400));
  CHECK(took < Milliseconds(900));
  CHECK(call.end == CallEnd::broken);
  CHECK(call.times == 1);
  CHECK(s.owner.last.what.find("400 ms") != std::string::npos);
  REQUIRE(s.world.until([&] { return s.owner.ups == 2; }));
}

TEST_CASE("A server that answers something is not dead, however late one call is") {
  Setup s;
  s.server.on_command([](Peer& peer, const Words&) { peer.write("+late\r\n"); });
  s.connect();
  // A new call every 100 ms, each answered at once: three times dead_after without a verdict.
  int answered = 0;
  for (int i = 0; i < 12; ++i) {
    s.link->call(command("A"), s.world.in(Milliseconds(60'000)),
                 [&](const CallAnswer&) { ++answered; });
    s.world.pass(Milliseconds(100));
  }
  CHECK(answered == 12);
  CHECK(s.owner.downs == 0);
}

TEST_CASE("An idle link is asked with PING, and a dead one is noticed without a call") {
  Setup s;
  s.endpoint.ping_every = Milliseconds(100);
  bool answer = true;
  s.server.on_command([&](Peer& peer, const Words&) {
    if (answer) peer.write("+PONG\r\n");
  });
  s.connect();
  REQUIRE(s.world.until([&] { return s.server.seen.size() >= 3; }));
  CHECK(s.server.seen[1] == "PING");
  CHECK(s.owner.downs == 0);
  answer = false;
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
}

TEST_CASE("A link bounds what may be outstanding") {
  Setup s([](Peer&, const Words&) {});
  s.endpoint.max_pending = 3;
  s.connect();
  std::vector<Ending> calls(5);
  for (Ending& call : calls) {
    s.link->call(command("A"), s.world.in(Milliseconds(60'000)), call.hear());
  }
  REQUIRE(s.world.until([&] { return calls[3].times + calls[4].times == 2; }));
  CHECK(calls[3].end == CallEnd::not_sent);
  CHECK(calls[4].end == CallEnd::not_sent);
  CHECK(calls[0].times == 0);
  CHECK(s.link->pending() == 3);
}

TEST_CASE("A reply cut at every byte is unanswered, one delivered in any two parts is answered") {
  const std::string reply = "*3\r\n$8\r\nacquired\r\n:1790000000000\r\n*2\r\n+a\r\n:1\r\n";
  for (std::size_t cut = 0; cut <= reply.size(); ++cut) {
    for (const bool then_close : {true, false}) {
      CAPTURE(cut);
      CAPTURE(then_close);
      Setup s;
      bool asked = false;
      s.server.on_command([&](Peer&, const Words&) { asked = true; });
      s.connect();
      Ending call;
      s.link->call(command("A"), s.world.in(Milliseconds(3000)), call.hear());
      REQUIRE(s.world.until([&] { return asked; }));
      s.server.newest().write(reply.substr(0, cut));
      if (then_close) {
        s.server.newest().close();
      } else {
        s.world.pass(Milliseconds(1));
        s.server.newest().write(reply.substr(cut));
      }
      REQUIRE(s.world.until([&] { return call.times == 1; }));
      const bool whole = !then_close || cut == reply.size();
      CHECK(call.end == (whole ? CallEnd::answered : CallEnd::broken));
      if (then_close) REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
      CHECK(call.times == 1);
    }
  }
}

TEST_CASE("What is not the protocol ends the link, and is told so") {
  Setup s([](Peer& peer, const Words&) { peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  s.connect();
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(3000)), call.hear());
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
  CHECK(call.end == CallEnd::broken);
  CHECK(s.owner.last.what.find("protocol") != std::string::npos);
}

TEST_CASE("A reply with an absurd number of elements ends the link without memory for them") {
  Setup s([](Peer& peer, const Words&) { peer.write("*2000000000\r\n"); });
  s.connect();
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(3000)), call.hear());
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
  CHECK(call.end == CallEnd::broken);
}

TEST_CASE("A reply that nobody asked for does not shift the answers") {
  Setup s;
  s.server.on_command([](Peer& peer, const Words&) { peer.write("+A\r\n"); });
  s.connect();
  s.server.newest().write("-ERR max number of clients reached\r\n");
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
  CHECK(s.owner.last.remedy.find("maxclients") != std::string::npos);
  REQUIRE(s.world.until([&] { return s.owner.ups == 2; }));
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(1000)), call.hear());
  REQUIRE(s.world.until([&] { return call.times == 1; }));
  CHECK(call.text == "A");
}

TEST_CASE("Attempts come with growing pauses while nobody listens") {
  Setup s;
  s.endpoint.unix_path = s.scratch.path("nobody");
  s.endpoint.reconnect_max = Milliseconds(80);
  s.start();
  const BootTime began = s.world.clock.boot_now();
  REQUIRE(s.world.until([&] { return s.owner.failures == 8; }));
  // 5, 10, 20, 40, 80, 80, 80: at least half of each.
  CHECK(s.world.clock.boot_now() - began >= Milliseconds(157));
  CHECK(s.owner.last.what.find("No such file") != std::string::npos);
}

TEST_CASE("A server that accepts and closes at once is not hammered") {
  Setup s([](Peer&, const Words&) {});
  s.server.greets = true;
  s.owner.when_up = [&] { s.server.newest().close(); };
  s.start();
  s.world.pass(Milliseconds(400));
  // Pauses of at least 25 ms once the longest is reached, and fewer than 6 before that.
  CHECK(s.server.accepted() <= 6 + 400 / 25);
  CHECK(s.owner.downs >= 3);
}

TEST_CASE("A black hole after connect is abandoned on time, by stage") {
  Setup s;
  s.server.greets = false;
  s.start();
  const BootTime began = s.world.clock.boot_now();
  REQUIRE(s.world.until([&] { return s.owner.failures == 1; }));
  const auto took = s.world.clock.boot_now() - began;
  CHECK(took >= Milliseconds(490));
  CHECK(took < Milliseconds(900));
  CHECK(s.owner.last.what.find("HELLO") != std::string::npos);
}

TEST_CASE("Retiring lets calls under way be answered, takes no more, and connects anew") {
  Setup s;
  std::vector<Peer*> waiting;
  s.server.on_command([&](Peer& peer, const Words&) { waiting.push_back(&peer); });
  s.connect();
  Ending before, after;
  s.link->call(command("A"), s.world.in(Milliseconds(3000)), before.hear());
  s.link->retire({"the server is not what it was", ""});
  s.link->call(command("B"), s.world.in(Milliseconds(3000)), after.hear());
  REQUIRE(s.world.until([&] { return after.times == 1 && waiting.size() == 1; }));
  CHECK(after.end == CallEnd::not_sent);
  CHECK(s.owner.downs == 0);
  waiting[0]->write("+A\r\n");
  REQUIRE(s.world.until([&] { return s.owner.ups == 2; }));
  CHECK(before.text == "A");
  CHECK(s.owner.downs == 1);
  CHECK(s.owner.last.what == "the server is not what it was");
}

TEST_CASE("Descriptors that have run out are an error like any other, and it passes") {
  Setup s(echo);
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
  s.start();
  std::vector<uv::OwnedFd> hoard;
  for (;;) {
    uv::OwnedFd fd(::dup(0));
    const int number = fd.get();
    if (number < 0 || number > 200) break;
    hoard.push_back(std::move(fd));
  }
  rlimit low = old;
  low.rlim_cur = 200;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(s.world.until([&] { return s.owner.failures >= 2; }));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &old) == 0);
  CHECK(s.owner.last.what.find("Too many open files") != std::string::npos);
  hoard.clear();
  CHECK(s.world.until([&] { return s.owner.ups == 1; }));
}

// --- the end of the link itself, at every point
// -------------------------------------------------------

TEST_CASE("A link may be destroyed from inside each of its callbacks") {
  enum class Where { up, down, failed, answered, expired, unsent, pushed, broken };
  for (const Where where : {Where::up, Where::down, Where::failed, Where::answered, Where::expired,
                            Where::unsent, Where::pushed, Where::broken}) {
    CAPTURE(static_cast<int>(where));
    Setup s([](Peer& peer, const Words& words) {
      if (words[0] == "A") peer.write("+A\r\n+B\r\n");
      if (words[0] == "CLOSE") peer.close();
      if (words[0] == "SUBSCRIBE") {
        peer.write(
            ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n+x\r\n");
      }
    });
    bool gone = false;
    const auto destroy = [&] {
      s.link.reset();
      gone = true;
    };
    const auto heard = [&](CallEnd end) {
      return [&, end](const CallAnswer& answer) {
        if (answer.end == end && !gone) destroy();
      };
    };
    if (where == Where::up) s.owner.when_up = destroy;
    if (where == Where::failed) {
      s.owner.when_failed = destroy;
      s.server.greets = false;
      s.endpoint.connect_timeout = Milliseconds(50);
    }
    s.start();
    if (where != Where::up && where != Where::failed) {
      REQUIRE(s.world.until([&] { return s.owner.ups == 1; }));
      const BootTime later = s.world.in(Milliseconds(3000));
      if (where == Where::down) s.owner.when_down = destroy;
      if (where == Where::pushed) {
        s.owner.when_pushed = destroy;
        REQUIRE(s.link->subscribe(Command("SUBSCRIBE").arg("c").finish()));
      }
      if (where == Where::answered) {
        s.link->call(command("A"), later, heard(CallEnd::answered));
        s.link->call(command("B"), later, [](const CallAnswer&) { FAIL("told after the end"); });
      }
      if (where == Where::expired) {
        for (int i = 0; i < 3; ++i) {
          s.link->call(command("N"), s.world.in(Milliseconds(20)), heard(CallEnd::expired_sent));
        }
      }
      if (where == Where::unsent) {
        s.link->decline(heard(CallEnd::not_sent));
        s.link->decline([](const CallAnswer&) { FAIL("told after the end"); });
      }
      if (where == Where::broken || where == Where::down) {
        s.link->call(command("N"), later, heard(CallEnd::broken));
        s.link->call(command("CLOSE"), later, heard(CallEnd::broken));
      }
    }
    REQUIRE(s.world.until([&] { return gone; }));
    s.world.pass(Milliseconds(10));
  }
}

TEST_CASE(
    "A link may be destroyed after any number of turns of the loop, which may stop for good") {
  for (int turns = 0; turns < 24; ++turns) {
    CAPTURE(turns);
    Setup s(echo);
    s.owner.when_up = [&] {
      for (int i = 0; i < 4; ++i) {
        s.link->call(command("A"), s.world.in(Milliseconds(1000)), [](const CallAnswer&) {});
      }
    };
    s.start();
    for (int i = 0; i < turns && s.server.seen.size() < 5; ++i) s.world.loop->run_once();
    s.link.reset();  // and the loop is not turned again before it is closed
  }
}

TEST_CASE("The server closes while the link is readable and writable at once") {
  Setup s;
  s.server.on_command([](Peer& peer, const Words&) {
    peer.write("+A\r\n");
    peer.close();
  });
  s.connect();
  Ending first;
  s.link->call(command("A"), s.world.in(Milliseconds(1000)), [&](const CallAnswer& answer) {
    first.hear()(answer);
    // More than a socket's buffer takes, so that the link waits to write when the end is read.
    for (int i = 0; i < 64; ++i) {
      s.link->call(Command("B").arg(std::string(65536, 'x')).finish(),
                   s.world.in(Milliseconds(1000)), [](const CallAnswer&) {});
    }
  });
  REQUIRE(s.world.until([&] { return s.owner.downs == 1; }));
  CHECK(first.text == "A");
  CHECK(s.link->pending() == 0);
}

TEST_CASE("A server that does not read holds up neither the loop nor the deadlines") {
  Setup s([](Peer& peer, const Words&) { peer.stop_reading(); });
  s.endpoint.dead_after = Milliseconds(2000);
  s.connect();
  int expired = 0;
  for (int i = 0; i < 64; ++i) {
    s.link->call(Command("B").arg(std::string(65536, 'x')).finish(), s.world.in(Milliseconds(100)),
                 [&](const CallAnswer& answer) { expired += answer.end == CallEnd::expired_sent; });
  }
  REQUIRE(s.world.until([&] { return expired == 64; }, Milliseconds(1000)));
  CHECK(s.owner.downs == 0);
}

TEST_CASE("A link whose process was stopped reads what has come before it judges") {
  Setup s([](Peer& peer, const Words&) { peer.write("+late\r\n"); });
  s.connect();
  Ending call;
  s.link->call(command("A"), s.world.in(Milliseconds(60'000)), call.hear());
  // One turn writes the command; then the process stands still for longer than dead_after.
  s.world.loop->run_once();
  s.world.loop->run_once();
  const BootTime end = s.world.in(Milliseconds(600));
  while (s.world.clock.boot_now() < end) {
  }
  REQUIRE(s.world.until([&] { return call.times == 1; }));
  CHECK(call.end == CallEnd::answered);
  CHECK(s.owner.downs == 0);
}

TEST_CASE("A context that cannot be watched is freed cleanly") {
  // A regular file: libuv refuses to poll it, as it does when the kernel has no room left.
  Setup s;
  const std::string file = s.scratch.write("file", "x");
  s.endpoint.unix_path = file;
  s.start();
  REQUIRE(s.world.until([&] { return s.owner.failures == 2; }));
  CHECK(s.owner.ups == 0);
}

}  // namespace
}  // namespace starlease::valkey

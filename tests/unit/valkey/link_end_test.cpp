// The end of a link at every point: from inside its callbacks, by a stopped loop, by the server.
#include "daemon/valkey/link.hpp"

#include <doctest/doctest.h>

#include "tests/unit/valkey/link_fixture.hpp"

namespace starlease::valkey {
namespace {

using namespace test;

// Hazard 142: with ASan, disconnecting in every callback.
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

// Hazard 143: the loop stands still in the middle of connect, command and disconnect.
TEST_CASE(
    "A link may be destroyed after any number of turns of the loop, which may stop for good") {
  const auto close_at_third = [](Peer& peer, const Words& words) {
    if (words[0] == "CLOSE") return peer.close();
    echo(peer, words);
  };
  for (const bool closes : {false, true}) {
    for (int turns = 0; turns < 24; ++turns) {
      CAPTURE(closes);
      CAPTURE(turns);
      Setup s(close_at_third);
      s.owner.when_up = [&] {
        for (const char* name : {"A", "B", closes ? "CLOSE" : "C", "D"}) {
          s.link->call(command(name), s.world.in(Milliseconds(1000)), [](const CallAnswer&) {});
        }
      };
      s.start();
      for (int i = 0; i < turns && s.owner.downs == 0 && s.server.seen.size() < 5; ++i) {
        s.world.loop->run_once();
      }
      s.link.reset();  // and the loop is not turned again before it is closed
    }
  }
}

// Hazard 144: reading ends the connection while it also waits to write.
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

}  // namespace
}  // namespace starlease::valkey

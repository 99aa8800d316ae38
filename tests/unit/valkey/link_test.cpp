// A link against a scripted server: connecting, calls and their deadlines, faults of every kind.
#include "daemon/valkey/link.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tests/unit/valkey/link_fixture.hpp"

namespace starlease::valkey {
namespace {

using namespace test;

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

// Hazard 141: a slow script on the connection; its neighbours are still answered.
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

// Hazard 144: the server closes at every byte of a reply.
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

// Hazard 145: no descriptor for the socket. The attachment itself fails in hiredis_test.cpp.
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

}  // namespace
}  // namespace starlease::valkey

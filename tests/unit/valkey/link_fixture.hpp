// A link to a scripted server, and how its calls ended.
#pragma once

#include <optional>
#include <string>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/link.hpp"
#include "daemon/valkey/reply.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/valkey/scripted_server.hpp"
#include "tests/unit/valkey/world.hpp"

namespace starlease::valkey::test {

inline std::string command(std::string_view name) { return Command(name).finish(); }

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

inline void echo(Peer& peer, const Words& words) { peer.write("+" + words[0] + "\r\n"); }

}  // namespace starlease::valkey::test

// What the tests of the client share: an identity, a connected client, waiting for something.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include <starlease/client.hpp>

#include "tests/unit/client/scripted_daemon.hpp"

namespace starlease::testing {

using namespace std::chrono_literals;

inline AcquireOptions some_lease() {
  AcquireOptions options;
  options.identity = {"t", "p", "n", "x", "a"};
  return options;
}

inline Client connected(const ScriptedDaemon& daemon, ClientOptions options = {}) {
  options.socket_path = daemon.path();
  auto client = Client::connect(options);
  REQUIRE_MESSAGE(client.ok(), (client.ok() ? "" : client.error().describe()));
  return std::move(*client);
}

/// Lets the client work until `done`; false when patience ends.
template <class Done>
bool work_until(Client& client, Done&& done) {
  const auto end = client::boot_now() + Peer::patience;
  while (!done()) {
    if (client::boot_now() >= end) return false;
    (void)client.wait(100ms);
  }
  return true;
}

/// Lets time pass without letting the client work.
inline void stall_until(client::BootTime time) {
  while (client::boot_now() < time) {
    std::this_thread::yield();
  }
}

}  // namespace starlease::testing

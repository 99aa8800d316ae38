// TLS against real servers and against what is none: only the right server is ever greeted, and
// each wrong one is told apart within the connect timeout.
#include <doctest/doctest.h>

#include <fstream>
#include <optional>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/link.hpp"
#include "daemon/valkey/reply.hpp"
#include "lib/base/crypto.hpp"
#include "tests/unit/valkey/certificates.hpp"
#include "tests/unit/valkey/relay.hpp"
#include "tests/unit/valkey/scripted_server.hpp"
#include "tests/unit/valkey/server.hpp"
#include "tests/unit/valkey/world.hpp"

namespace starlease::valkey {
namespace {

using namespace test;

Endpoint tls_endpoint(std::uint16_t port) {
  Endpoint endpoint;
  endpoint.host = "127.0.0.1";
  endpoint.port = port;
  endpoint.tls.enabled = true;
  endpoint.tls.ca_file = Certificates::get().ca();
  endpoint.connect_timeout = Milliseconds(1000);
  return endpoint;
}

/// Tries to connect; "" if the link came up, else the fault in one line. Checks the time it took,
/// and that nothing waited inside the loop.
std::string outcome(World& world, const Endpoint& endpoint) {
  CountingOwner owner;
  Link link(world.seams(), endpoint, "test", owner);
  const BootTime began = world.clock.boot_now();
  base::Nanoseconds worst{};
  base::Timer ticks;
  std::function<void()> tick = [&] {
    const BootTime due = world.in(Milliseconds(10));
    ticks = world.timers->at(due, [&, due] {
      worst = std::max(worst, world.clock.boot_now() - due);
      tick();
    });
  };
  tick();
  link.start();
  REQUIRE(world.until([&] { return owner.ups + owner.failures > 0; }));
  CHECK(world.clock.boot_now() - began < endpoint.connect_timeout + Milliseconds(300));
  // A handshake that blocks holds it up for as long as the other end is silent.
  CHECK(worst < endpoint.connect_timeout / 2);
  if (owner.ups > 0) return "";
  CHECK_FALSE(owner.last.remedy.empty());
  return owner.last.what + " / " + owner.last.remedy;
}

bool names(const std::string& text, std::string_view word) {
  CAPTURE(text);
  CHECK(text.find(word) != std::string::npos);
  return text.find(word) != std::string::npos;
}

// Hazard 147: a certificate for another name.
TEST_CASE(
    "TLS: the right server is accepted by its name and by its address, and no other name is") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good()));
  Endpoint endpoint = tls_endpoint(port);
  CHECK(outcome(world, endpoint) == "");
  endpoint.tls.server_name = "valkey.test";
  CHECK(outcome(world, endpoint) == "");
  endpoint.tls.server_name = "other.test";
  CHECK(names(outcome(world, endpoint), "not for \"other.test\""));
  endpoint.tls.server_name = "127.0.0.2";
  CHECK(names(outcome(world, endpoint), "not for \"127.0.0.2\""));
  endpoint.tls.server_name.clear();
  endpoint.host = "localhost";
  CHECK(names(outcome(world, endpoint), "not for \"localhost\""));
}

TEST_CASE("TLS: an authority that did not sign, and files that are none, are refused") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good()));
  Endpoint endpoint = tls_endpoint(port);
  endpoint.tls.ca_file = Certificates::get().other_ca();
  CHECK(names(outcome(world, endpoint), "not trusted"));
  endpoint.tls.ca_file = "/nowhere/ca.pem";
  CHECK(names(outcome(world, endpoint), "/nowhere/ca.pem"));
  endpoint.tls.ca_file.clear();
  CHECK(names(outcome(world, endpoint), "not trusted"));
}

// Hazard 147: an expired certificate.
TEST_CASE("TLS: an expired certificate is refused as such") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().expired()));
  CHECK(names(outcome(world, tls_endpoint(port)), "certificate has expired"));
}

TEST_CASE("TLS: a server that demands a client certificate gets one, or says so") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good(), "yes"));
  Endpoint endpoint = tls_endpoint(port);
  CHECK(names(outcome(world, endpoint), "certificate"));
  endpoint.tls.cert_file = Certificates::get().good();
  endpoint.tls.key_file = Certificates::get().key();
  CHECK(outcome(world, endpoint) == "");
  endpoint.tls.key_file = Certificates::get().ca();
  CHECK(names(outcome(world, endpoint), "cannot use the key"));
}

// Hazard 147: TLS against a plain port.
TEST_CASE("TLS: a plain port is told apart, whether it answers, closes or waits") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server({"--port", std::to_string(port), "--bind", "127.0.0.1"});
  CHECK(names(outcome(world, tls_endpoint(port)), "TLS"));

  ScriptedServer plain(world, "", nullptr);
  plain.on_bytes = [](Peer& peer, std::string_view) { peer.write("-ERR unknown command\r\n"); };
  CHECK(names(outcome(world, tls_endpoint(plain.port())), "answered without TLS"));
  plain.on_bytes = [](Peer& peer, std::string_view) { peer.close(); };
  CHECK(names(outcome(world, tls_endpoint(plain.port())), "during the TLS handshake"));
}

// Hazards 147 and 148: a silent port, which swallows the ClientHello; outcome() measures the loop.
TEST_CASE("TLS: a silent port is given up on time, and the loop turns meanwhile") {
  World world;
  ScriptedServer silent(world, "", nullptr);
  std::size_t heard = 0;
  silent.on_bytes = [&](Peer&, std::string_view bytes) { heard += bytes.size(); };
  CHECK(
      names(outcome(world, tls_endpoint(silent.port())), "no answer in time to the TLS handshake"));
  CHECK(heard > 0);  // the ClientHello went into the hole
}

TEST_CASE("TLS: plain text to a TLS port is told apart") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good()));
  Endpoint endpoint = tls_endpoint(port);
  endpoint.tls.enabled = false;
  CountingOwner owner;
  Link link(world.seams(), endpoint, "test", owner);
  link.start();
  REQUIRE(world.until([&] { return owner.failures > 0; }));
  CHECK(owner.ups == 0);
}

TEST_CASE("TLS: replies of every size come through, also cut into pieces") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good()));
  Relay relay(world, port, Milliseconds(1));
  CountingOwner owner;
  const Endpoint endpoint = tls_endpoint(relay.port());
  Link link(world.seams(), endpoint, "test", owner);
  link.start();
  REQUIRE(world.until([&] { return owner.ups == 1; }));
  int right = 0;
  for (std::size_t size : {1UL, 1000UL, 16383UL, 16384UL, 16385UL, 100'000UL, 1'000'000UL}) {
    link.call(Command("ECHO").arg(std::string(size, 'x')).finish(), world.in(Milliseconds(5000)),
              [&right, size](const CallAnswer& answer) {
                if (answer.end == CallEnd::answered) {
                  right += text_of(*answer.reply).value_or("").size() == size;
                }
              });
  }
  REQUIRE(world.until([&] { return link.pending() == 0; }));
  CHECK(right == 7);
}

// Hazard 149: every handshake begins only once the connection stands; 200 ms there and back.
TEST_CASE("TLS: a thousand connections over a slow line all come up at the first attempt") {
  World world;
  const std::uint16_t port = free_port(world);
  const Server server(Certificates::get().options(port, Certificates::get().good()));
  Relay relay(world, port, Milliseconds(100));
  Endpoint endpoint = tls_endpoint(relay.port());
  endpoint.connect_timeout = Milliseconds(20'000);
  for (int round = 0; round < 10; ++round) {
    CountingOwner owner;
    std::vector<std::unique_ptr<Link>> links;
    for (int i = 0; i < 100; ++i) {
      links.push_back(std::make_unique<Link>(world.seams(), endpoint, "test", owner));
      links.back()->start();
    }
    REQUIRE(world.until([&] { return owner.ups == 100; }, Milliseconds(20'000)));
    CHECK(owner.failures == 0);
  }
}

// --- the password
// --------------------------------------------------------------------------------------

/// True if `text` lies anywhere in the writable memory of this process.
bool in_memory(const std::string& half, const std::string& other_half) {
  std::ifstream maps("/proc/self/maps");
  std::ifstream memory("/proc/self/mem", std::ios::binary);
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char flags[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, flags) != 3) continue;
    // What the sanitizer reserves is larger than any machine's memory, and holds nothing.
    if (std::string_view(flags).substr(0, 2) != "rw" || end - begin > (1UL << 26)) continue;
    std::string bytes(end - begin, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(begin));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(memory.gcount()));
    for (std::size_t at = bytes.find(half); at != std::string::npos;
         at = bytes.find(half, at + 1)) {
      if (bytes.compare(at + half.size(), other_half.size(), other_half) == 0) return true;
    }
  }
  return false;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

TEST_CASE("A password is in no log and nowhere in memory once the link is up") {
  REQUIRE(base::crypto_start());
  const std::string half = "corre" + std::to_string(::getpid());
  const std::string other_half = "horse" + std::to_string(::getpid());
  const auto secret = [&] {
    std::string whole = half + other_half;
    base::Secret made(whole);
    base::wipe(whole);
    return made;
  };
  base::Sha256 digest{};
  {
    const base::Secret password = secret();
    digest = base::sha256(password.reveal());
  }
  World world;
  const std::uint16_t port = free_port(world);
  std::vector<std::string> options = Certificates::get().options(port, Certificates::get().good());
  const starlease::test::Scratch folder;
  options.emplace_back("--aclfile");
  options.push_back(folder.write(
      "users.acl", "user starleased on #" + hex(base::as_chars(digest)) + " ~* &* +@all\n"));
  const Server server(options);
  for (const bool tls : {false, true}) {
    CAPTURE(tls);
    Endpoint endpoint = tls_endpoint(port);
    if (!tls) {
      endpoint = {};
      endpoint.unix_path = server.socket();
    }
    endpoint.user = "starleased";
    endpoint.password = [&]() -> base::Result<base::Secret, std::string> { return secret(); };
    CountingOwner owner;
    Link link(world.seams(), endpoint, "test", owner);
    link.start();
    REQUIRE(world.until([&] { return owner.ups == 1; }));
    world.pass(Milliseconds(20));
    CHECK_FALSE(in_memory(half, other_half));
    CHECK_FALSE(world.log.has(half));
  }
  // The search does find what is there.
  const std::string planted = half + other_half;
  CHECK(in_memory(half, other_half));
  CHECK(planted.size() > half.size());
}

}  // namespace
}  // namespace starlease::valkey

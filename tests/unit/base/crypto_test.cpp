// Digests and MACs against published vectors; secrets; the two ways in which randomness is drawn.
#include "lib/base/crypto.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "lib/base/secret.hpp"
#include "lib/base/system_random.hpp"

namespace starlease::base {
namespace {

template <std::size_t N>
std::string hex(const std::array<std::byte, N>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

TEST_CASE("SHA-256 of FIPS 180-4") {
  REQUIRE(crypto_start());
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a MAC depends on every bit of key and message, and is compared whole") {
  REQUIRE(crypto_start());
  MacKey key{};
  const Mac mac = keyed_mac(key, "message");
  CHECK(hex(mac) == hex(keyed_mac(key, "message")));
  CHECK(hex(mac) != hex(keyed_mac(key, "messagf")));
  for (std::byte& byte : key) {
    byte = std::byte{1};
    CHECK(hex(mac) != hex(keyed_mac(key, "message")));
    byte = std::byte{0};
  }
  Mac other = mac;
  CHECK(equal_constant_time(mac, other));
  other[31] ^= std::byte{1};
  CHECK(!equal_constant_time(mac, other));
  CHECK(!equal_constant_time(mac, std::span(mac).first(31)));
}

TEST_CASE("a secret keeps its bytes when moved, and a moved-from one is empty") {
  REQUIRE(crypto_start());
  Secret first("hunter2");
  CHECK(first.reveal() == "hunter2");
  Secret second(std::move(first));
  CHECK(second.reveal() == "hunter2");
  CHECK(first.empty());  // NOLINT(bugprone-use-after-move): that is what is looked at
  Secret third;
  CHECK(third.empty());
  third = std::move(second);
  CHECK(third.reveal() == "hunter2");
  CHECK(second.empty());  // NOLINT(bugprone-use-after-move)
  std::string buffer = "hunter2";
  wipe(buffer);
  CHECK(buffer == std::string(7, '\0'));
}

TEST_CASE("random numbers are below their bound and do not repeat, across refills of the store") {
  REQUIRE(crypto_start());
  SystemRandom random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    CHECK(random.below(10) < 10);
    seen.insert(random.below(UINT64_MAX));
  }
  CHECK(seen.size() == 1000);
  std::array<std::byte, 16> one{};
  std::array<std::byte, 16> two{};
  random.fill(one);
  random.fill(two);
  CHECK(hex(one) != hex(two));
}

}  // namespace
}  // namespace starlease::base

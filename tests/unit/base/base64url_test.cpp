// base64url without padding, strict both ways.
#include "lib/base/base64url.hpp"

#include <doctest/doctest.h>

#include <random>

namespace starlease::base {
namespace {

std::vector<std::byte> bytes(std::string_view text) {
  const auto span = std::as_bytes(std::span(text));
  return {span.begin(), span.end()};
}

TEST_CASE("the vectors of RFC 4648 section 10, without their padding") {
  for (const auto& [plain, encoded] : {std::pair<std::string_view, std::string_view>{"", ""},
                                       {"f", "Zg"},
                                       {"fo", "Zm8"},
                                       {"foo", "Zm9v"},
                                       {"foob", "Zm9vYg"},
                                       {"fooba", "Zm9vYmE"},
                                       {"foobar", "Zm9vYmFy"},
                                       {"\xfb\xff", "-_8"}}) {
    CAPTURE(plain);
    CHECK(base64url_encode(bytes(plain)) == encoded);
    CHECK(base64url_decode(encoded) == bytes(plain));
  }
}

TEST_CASE("whatever was encoded is decoded to the same bytes, and 32 bytes are 43 characters") {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::byte> plain(size);
    for (std::byte& byte : plain) byte = static_cast<std::byte>(random());
    CHECK(base64url_decode(base64url_encode(plain)) == plain);
  }
  CHECK(base64url_encode(std::vector<std::byte>(32)).size() == 43);
}

TEST_CASE(
    "one text for each value: padding, other alphabets, bad lengths and spare bits are refused") {
  for (const std::string_view bad :
       {"Zg==", "Zg=", "Z", "Zm9vY", "+/8", "Zm 8", "Zm8\n", "Zh", "Zm9", "\xc3\xa9gA"}) {
    CAPTURE(bad);
    CHECK(!base64url_decode(bad));
  }
}

}  // namespace
}  // namespace starlease::base

// Unpadded base64url; see the header. Own code rather than libsodium's, as it must refuse what that
// one ignores or accepts depending on its version.
#include "lib/base/base64url.hpp"

#include <array>
#include <cstdint>

namespace starlease::base {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t not_a_digit = 0xff;

constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(not_a_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string base64url_encode(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (std::byte byte : bytes) {
    bits = (bits << 8) | std::to_integer<std::uint32_t>(byte);
    held += 8;
    while (held >= 6) {
      held -= 6;
      text += alphabet[(bits >> held) & 63];
    }
  }
  if (held > 0) text += alphabet[(bits << (6 - held)) & 63];
  return text;
}

std::optional<std::vector<std::byte>> base64url_decode(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (char c : text) {
    const std::uint8_t digit = digit_values[static_cast<unsigned char>(c)];
    if (digit == not_a_digit) return std::nullopt;
    bits = (bits << 6) | digit;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<std::byte>((bits >> held) & 0xff));
    }
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace starlease::base

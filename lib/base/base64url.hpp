// Unpadded base64url (RFC 4648 section 5), strict both ways.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starlease::base {

/// Encodes without padding: 32 bytes give 43 characters.
[[nodiscard]] std::string base64url_encode(std::span<const std::byte> bytes);
/// Decodes; nothing for any other alphabet, padding, impossible length or non-zero spare bits.
[[nodiscard]] std::optional<std::vector<std::byte>> base64url_decode(std::string_view text);

}  // namespace starlease::base

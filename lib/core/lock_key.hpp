// canonical-target-lock-key of the contract: identity -> canonical JSON array -> SHA-256 -> key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/crypto.hpp"
#include "lib/core/identity.hpp"

namespace starlease::core {

inline constexpr std::string_view lock_key_prefix = "starintel:target-lease:v1:";

/// The SHA-256 that names a lock inside the store.
struct LockDigest {
  base::Sha256 bytes{};

  [[nodiscard]] std::string_view chars() const { return base::as_chars(bytes); }
  friend auto operator<=>(const LockDigest&, const LockDigest&) = default;
};

[[nodiscard]] LockDigest lock_digest(const LockIdentity& identity);
/// "starintel:target-lease:v1:" and 43 characters of base64url.
[[nodiscard]] std::string lock_key(const LockDigest& digest);
/// The digest inside a lock key; nothing if it is not one.
[[nodiscard]] std::optional<LockDigest> parse_lock_key(std::string_view key);

/// The partition that holds a lock: its digest's first eight bytes modulo `count`. REQUIRES: count
/// > 0.
[[nodiscard]] std::uint32_t partition_of(const LockDigest& digest, std::uint32_t count);

}  // namespace starlease::core

template <>
struct std::hash<starlease::core::LockDigest> {
  std::size_t operator()(const starlease::core::LockDigest& digest) const noexcept {
    std::size_t value = 0;  // a digest is evenly spread already
    for (std::size_t i = 0; i < sizeof value; ++i) {
      value = (value << 8) | std::to_integer<std::size_t>(digest.bytes[i]);
    }
    return value;
  }
};

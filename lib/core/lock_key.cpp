// Lock keys; see the header.
#include "lib/core/lock_key.hpp"

#include <algorithm>

#include "lib/base/base64url.hpp"
#include "lib/core/canonical.hpp"

namespace starlease::core {

LockDigest lock_digest(const LockIdentity& identity) {
  return {base::sha256(canonical_array(identity.components))};
}

std::string lock_key(const LockDigest& digest) {
  return std::string(lock_key_prefix) + base::base64url_encode(digest.bytes);
}

std::optional<LockDigest> parse_lock_key(std::string_view key) {
  if (!key.starts_with(lock_key_prefix)) return std::nullopt;
  const auto bytes = base::base64url_decode(key.substr(lock_key_prefix.size()));
  LockDigest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  std::ranges::copy(*bytes, digest.bytes.begin());
  return digest;
}

std::uint32_t partition_of(const LockDigest& digest, std::uint32_t count) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof head; ++i) {
    head = (head << 8) | std::to_integer<std::uint64_t>(digest.bytes[i]);
  }
  return static_cast<std::uint32_t>(head % count);
}

}  // namespace starlease::core

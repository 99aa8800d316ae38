// Hashes and MACs; see the header.
#include "lib/base/crypto.hpp"

#include <sodium.h>

namespace starlease::base {
namespace {

const unsigned char* raw(const void* bytes) { return static_cast<const unsigned char*>(bytes); }
unsigned char* raw(void* bytes) { return static_cast<unsigned char*>(bytes); }

static_assert(sizeof(Sha256) == crypto_hash_sha256_BYTES);
static_assert(sizeof(MacKey) == crypto_auth_hmacsha256_KEYBYTES);
static_assert(sizeof(Mac) == crypto_auth_hmacsha256_BYTES);

}  // namespace

bool crypto_start() { return sodium_init() >= 0; }

Sha256 sha256(std::string_view bytes) {
  Sha256 digest;
  crypto_hash_sha256(raw(digest.data()), raw(bytes.data()), bytes.size());
  return digest;
}

Mac keyed_mac(const MacKey& key, std::string_view message) {
  Mac mac;
  crypto_auth_hmacsha256(raw(mac.data()), raw(message.data()), message.size(), raw(key.data()));
  return mac;
}

bool equal_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace starlease::base

// Signatures; see the header.
#include "lib/base/signing.hpp"

#include <sodium.h>

#include <algorithm>

#include "lib/base/assert.hpp"
#include "lib/base/base64url.hpp"

namespace starlease::base {
namespace {

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

template <std::size_t N>
const unsigned char* raw(const std::array<std::byte, N>& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

template <std::size_t N>
std::optional<std::array<std::byte, N>> parse(std::string_view text) {
  const auto bytes = base64url_decode(text);
  if (!bytes || bytes->size() != N) return std::nullopt;
  std::array<std::byte, N> out{};
  std::ranges::copy(*bytes, out.begin());
  return out;
}

}  // namespace

static_assert(sizeof(PublicKey) == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(Signature) == crypto_sign_BYTES);

bool signature_fits(const PublicKey& key, std::string_view message, const Signature& signature) {
  return crypto_sign_verify_detached(raw(signature), raw(message), message.size(), raw(key)) == 0;
}

std::optional<SigningKey> SigningKey::from_seed(std::span<const std::byte> seed) {
  if (seed.size() != crypto_sign_SEEDBYTES) return std::nullopt;
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> unused{};
  std::array<char, crypto_sign_SECRETKEYBYTES> secret{};
  const int done =
      crypto_sign_seed_keypair(unused.data(), reinterpret_cast<unsigned char*>(secret.data()),
                               reinterpret_cast<const unsigned char*>(seed.data()));
  SL_ASSERT(done == 0);
  SigningKey key(Secret(std::string_view(secret.data(), secret.size())));
  wipe(secret);
  return key;
}

SigningKey SigningKey::make(Random& random) {
  std::array<std::byte, crypto_sign_SEEDBYTES> seed{};
  random.fill(seed);
  auto key = from_seed(seed);
  wipe({reinterpret_cast<char*>(seed.data()), seed.size()});
  return *std::move(key);
}

PublicKey SigningKey::public_key() const {
  PublicKey key{};
  std::ranges::copy(std::as_bytes(std::span(secret_.reveal().substr(crypto_sign_SEEDBYTES))),
                    key.begin());
  return key;
}

Signature SigningKey::sign(std::string_view message) const {
  Signature signature{};
  const int done = crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr,
                                        raw(message), message.size(), raw(secret_.reveal()));
  SL_ASSERT(done == 0);
  return signature;
}

std::optional<PublicKey> parse_public_key(std::string_view text) {
  return parse<sizeof(PublicKey)>(text);
}

std::optional<Signature> parse_signature(std::string_view text) {
  return parse<sizeof(Signature)>(text);
}

}  // namespace starlease::base

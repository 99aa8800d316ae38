// Ed25519 signatures, on libsodium. No keys are kept here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/random.hpp"
#include "lib/base/secret.hpp"

namespace starlease::base {

using PublicKey = std::array<std::byte, 32>;
using Signature = std::array<std::byte, 64>;

/// True if `signature` was made over exactly `message` with the key's other half.
[[nodiscard]] bool signature_fits(const PublicKey& key, std::string_view message,
                                  const Signature& signature);

/// The private half, in guarded memory. Only an administrator's own program makes one.
class SigningKey {
 public:
  [[nodiscard]] static SigningKey make(Random& random);
  /// From its 32 bytes of seed; nothing for another length.
  [[nodiscard]] static std::optional<SigningKey> from_seed(std::span<const std::byte> seed);

  [[nodiscard]] PublicKey public_key() const;
  [[nodiscard]] Signature sign(std::string_view message) const;
  /// What from_seed() takes; for writing it to the administrator's own file.
  [[nodiscard]] std::string_view seed() const { return secret_.reveal().substr(0, 32); }

 private:
  explicit SigningKey(Secret secret) : secret_(std::move(secret)) {}
  Secret secret_;  // the seed, then the public key
};

/// The key or signature that a text of base64url stands for; nothing for another length or
/// alphabet.
[[nodiscard]] std::optional<PublicKey> parse_public_key(std::string_view text);
[[nodiscard]] std::optional<Signature> parse_signature(std::string_view text);

}  // namespace starlease::base

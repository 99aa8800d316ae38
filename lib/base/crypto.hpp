// Hashes and keyed MACs, on libsodium. No keys are kept here.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace starlease::base {

using Sha256 = std::array<std::byte, 32>;
using MacKey = std::array<std::byte, 32>;
using Mac = std::array<std::byte, 32>;

/// Starts the library; false means that no safe randomness is to be had and the process must not
/// run.
[[nodiscard]] bool crypto_start();

[[nodiscard]] Sha256 sha256(std::string_view bytes);

/// HMAC-SHA-256 of `message`.
[[nodiscard]] Mac keyed_mac(const MacKey& key, std::string_view message);

/// Compares without leaking where the difference is. Different lengths are unequal.
[[nodiscard]] bool equal_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);

/// The bytes of a digest as characters, for use in keys and commands.
template <std::size_t N>
[[nodiscard]] std::string_view as_chars(const std::array<std::byte, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), N};
}

}  // namespace starlease::base

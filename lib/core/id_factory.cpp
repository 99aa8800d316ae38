// Identifiers; see the header.
#include "lib/core/id_factory.hpp"

#include <algorithm>
#include <array>

#include "lib/base/base64url.hpp"

namespace starlease::core {
namespace {

constexpr std::string_view crockford = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::string_view lease_prefix = "lease_";
constexpr std::size_t serial_length = 26;
constexpr std::size_t time_digits = 10;

bool is_serial(std::string_view text) {
  return text.size() == serial_length &&
         std::ranges::all_of(text, [](char c) { return crockford.contains(c); });
}

}  // namespace

std::string IdFactory::make(std::string_view prefix) {
  std::array<std::byte, serial_length - time_digits> noise{};
  random_.fill(noise);
  auto time = static_cast<std::uint64_t>(clock_.wall_now().time_since_epoch().count());
  std::string id(prefix);
  id.resize(prefix.size() + serial_length);
  for (std::size_t i = time_digits; i-- > 0; time >>= 5)
    id[prefix.size() + i] = crockford[time & 31];
  for (std::size_t i = 0; i < noise.size(); ++i) {
    id[prefix.size() + time_digits + i] = crockford[std::to_integer<std::size_t>(noise[i]) & 31];
  }
  return id;
}

LeaseId IdFactory::lease(const LockDigest& digest) {
  return LeaseId(make(lease_prefix) + '_' + base::base64url_encode(digest.bytes));
}

std::optional<LockDigest> lock_of(const LeaseId& lease_id) {
  std::string_view text = lease_id.value;
  constexpr std::size_t head = lease_prefix.size() + serial_length;
  if (!text.starts_with(lease_prefix) || text.size() <= head || text[head] != '_') {
    return std::nullopt;
  }
  if (!is_serial(text.substr(lease_prefix.size(), serial_length))) return std::nullopt;
  const auto bytes = base::base64url_decode(text.substr(head + 1));
  LockDigest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  std::ranges::copy(*bytes, digest.bytes.begin());
  return digest;
}

}  // namespace starlease::core

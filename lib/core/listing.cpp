// Order and choice of listed leases; see the header.
#include "lib/core/listing.hpp"

#include "lib/core/canonical.hpp"

namespace starlease::core {
namespace {

constexpr std::size_t hash_given = 8;
/// What the store's indexes keep of a hash.
constexpr std::size_t hash_kept = 4;

}  // namespace

bool is_meant(const ListFilter& filter, const LockIdentity& identity, const PrincipalId& owner) {
  if (filter.by == ListBy::owner) return owner == filter.owner;
  const bool in_program = identity.at(Component::tenant_id) == filter.tenant_id &&
                          identity.at(Component::program_id) == filter.program_id;
  if (filter.by == ListBy::program) return in_program;
  return in_program && identity.at(Component::target_namespace) == filter.target_namespace &&
         identity.at(Component::target_id) == filter.target_id;
}

std::string index_hash(std::string_view text) {
  const base::Sha256 hash = base::sha256(text);
  return std::string(base::as_chars(hash).substr(0, hash_given));
}

std::string index_hash(const std::string& first, const std::string& second) {
  const std::array<std::string, 2> pair = {first, second};
  return index_hash(canonical_array(pair));
}

std::string list_position(ListBy by, const LockIdentity& identity, const LockDigest& digest) {
  std::string position;
  if (by == ListBy::program) {
    position =
        index_hash(identity.at(Component::target_namespace), identity.at(Component::target_id));
    position.resize(hash_kept);
  }
  return position.append(digest.chars());
}

}  // namespace starlease::core

// Every bound of the domain with its reason; what an operator may change is in the configuration
// and bounded by these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/core/times.hpp"

namespace starlease::core::limits {

/// One identity component after normalization (ipc.md "Lock identity").
inline constexpr std::size_t identity_component_bytes = 256;
/// What is accepted before normalization: NFC and folding shrink or grow text at most threefold.
inline constexpr std::size_t raw_component_bytes = 4 * identity_component_bytes;
/// request_id, execution, job and trace ids.
inline constexpr std::size_t id_bytes = 128;
/// Metadata as serialized JSON; larger things belong in a document.
inline constexpr std::size_t metadata_bytes = 4096;
inline constexpr std::size_t metadata_keys = 64;
inline constexpr std::size_t metadata_depth = 4;
/// A document's name, and its body as serialized JSON (ipc.md `commit`). Deeper bodies than this
/// are refused, so that whoever reads them with a recursive parser is safe.
inline constexpr std::size_t document_name_bytes = 128;
inline constexpr std::size_t document_body_bytes = 131'072;
inline constexpr std::size_t document_body_depth = 64;
/// An administrator's reason or incident identifier.
inline constexpr std::size_t reason_bytes = 512;
/// Tokens travel as JSON numbers, which are exact below 2^53.
inline constexpr std::int64_t maximum_token = (std::int64_t{1} << 53) - 1;
/// Bounds of the configurable policy.
inline constexpr Milliseconds smallest_ttl{100};
inline constexpr Milliseconds largest_ttl{86'400'000};
inline constexpr Milliseconds largest_lifetime{30LL * 86'400'000};
/// Timed renewals in one call: 100 packed leases hold the server about 0.6 ms.
inline constexpr std::size_t renewals_per_call = 100;
/// Overdue leases in one sweep; as many as hold the server about as long as a batch of renewals.
inline constexpr std::size_t leases_per_sweep = 100;
/// Leases in one call of a list, entries of a history told by one: about a millisecond each.
inline constexpr std::size_t leases_per_list = 100;
inline constexpr std::size_t endings_per_call = 50;
/// Pages of lists and histories.
inline constexpr std::int64_t default_page = 50;
inline constexpr std::int64_t largest_page = 100;
/// The longest that a lease can be in an answer: seven components and what is of fixed length.
inline constexpr std::size_t listed_lease_bytes = 2560;
/// A cluster has 16384 slots; more partitions than a few hundred only cost memory.
inline constexpr std::uint32_t largest_partition_count = 4096;

static_assert(smallest_ttl < largest_ttl && largest_ttl <= largest_lifetime);

}  // namespace starlease::core::limits

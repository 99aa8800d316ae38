// Many leases at once: which are active, and how those of an identity ended. Needs C++20; throws
// nothing of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <starlease/lease.hpp>

namespace starlease {

struct Inspection {
  LeaseInfo lease;
  /// Evidence of a terminal state.
  std::optional<BackendTime> ended_at;
  std::string end_reason;
};

enum class ListBy : std::uint8_t { owner, target, program };

/// Which leases are meant.
struct ListFilter {
  ListBy by = ListBy::owner;
  /// owner: empty for the caller's own.
  std::string owner_principal_id;
  /// program: the first two; target: all four.
  std::string tenant_id, program_id, target_namespace, target_id;
};

struct PageOptions {
  /// At most so many; 0: as many as the daemon thinks fit. It tells no more than 100.
  std::int64_t size = 0;
  /// `next_cursor` of the page before; empty: from the beginning.
  std::string cursor;
  std::chrono::milliseconds timeout{5000};
};

/// A page may be short, even empty; only one without `next_cursor` is the last.
struct LeasePage {
  std::vector<LeaseInfo> leases;
  std::string next_cursor;
};

/// Newest first.
struct HistoryPage {
  std::vector<Inspection> history;
  std::string next_cursor;
};

}  // namespace starlease

// Fenced writes: what the work under a lease may leave behind, and what was left. Needs C++20;
// throws nothing of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <starlease/lease.hpp>

namespace starlease {

/// Each type has its own rule beside the revision: a checkpoint's sequence grows, a terminal_state
/// stands for ever, a schedule names an execution that was not completed before.
enum class DocumentType : std::uint8_t {
  target_state,
  result,
  checkpoint,
  terminal_state,
  schedule
};
[[nodiscard]] std::string_view name(DocumentType type) noexcept;

/// A document to be written.
struct DocumentWrite {
  /// 1-128 bytes of [A-Za-z0-9._:-].
  std::string name;
  DocumentType type{};
  /// A JSON object, at most 131072 bytes.
  std::string body_json;
  /// The revision that must stand there; 0: none may.
  std::int64_t expect_revision = 0;
  /// checkpoint only: greater than that of the last one.
  std::int64_t sequence = 0;
  /// schedule only: what is done, and when the next is due.
  std::string completed_execution_id;
  BackendTime next_due_at{};
};

/// A write that was accepted.
struct Commit {
  /// When the lease was found valid; the write counts as done then.
  BackendTime accepted_at;
  std::int64_t fencing_token = 0;
  /// Of the document; 0 where nothing was written.
  std::int64_t revision = 0;
  /// True where the answer repeats that of an earlier request with the same request id; then
  /// `current_state` tells what has become of the lease since.
  bool replayed = false;
  std::optional<LeaseState> current_state;
};

/// A document as it stands, with the lease that wrote it.
struct Document {
  DocumentWrite content;
  std::int64_t revision = 0;
  std::int64_t fencing_token = 0;
  std::string lease_id;
  std::string execution_id;
  std::string trace_id;
  BackendTime accepted_at;
};

}  // namespace starlease

// Documents: what fenced writes keep in the store beside the lease that wrote them. Contract
// "fencing"; ipc.md `commit`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/core/fencing_token.hpp"
#include "lib/core/ids.hpp"
#include "lib/core/times.hpp"

namespace starlease::core {

enum class DocumentType : std::uint8_t {
  target_state,
  result,
  checkpoint,
  terminal_state,
  schedule
};

[[nodiscard]] constexpr std::string_view name(DocumentType type) {
  constexpr std::array<std::string_view, 5> names = {"target_state", "result", "checkpoint",
                                                     "terminal_state", "schedule"};
  return names[static_cast<std::size_t>(type)];
}

/// What a writer says of a document; each type uses its own of the last three.
struct DocumentContent {
  std::string name;
  DocumentType type{};
  /// A JSON object as compact text.
  std::string body;
  /// checkpoint: grows with each.
  std::int64_t sequence = 0;
  /// schedule: the execution that is done, and when the next is due.
  ExecutionId completed_execution;
  BackendTime next_due;
  friend bool operator==(const DocumentContent&, const DocumentContent&) = default;
};

struct DocumentWrite {
  DocumentContent content;
  /// The revision that must stand there; 0: none may.
  std::int64_t expect_revision = 0;
};

/// A document as stored, with the lease that wrote it.
struct Document {
  DocumentContent content;
  std::int64_t revision = 0;
  FencingToken token;
  LeaseId lease_id;
  ExecutionId execution;
  TraceId trace;
  BackendTime accepted_at;
};

/// True if `write` may follow `current` by the rules of their types: a job's checkpoints grow until
/// its terminal state, which stands; an execution completes once.
[[nodiscard]] constexpr bool may_follow(const DocumentContent& current,
                                        const DocumentContent& write) {
  if (current.type == DocumentType::terminal_state) return false;
  if (current.type != write.type) {
    return current.type == DocumentType::checkpoint && write.type == DocumentType::terminal_state;
  }
  if (write.type == DocumentType::checkpoint) return write.sequence > current.sequence;
  if (write.type == DocumentType::schedule) {
    return write.completed_execution != current.completed_execution;
  }
  return true;
}

}  // namespace starlease::core

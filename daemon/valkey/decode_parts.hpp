// What the replies of several functions have in common: the head, statuses that any function can
// answer, the grant, the record block, the gate block. For decode*.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/valkey/decode.hpp"
#include "daemon/valkey/reply.hpp"

namespace starlease::valkey::parts {

/// The head of a reply, its status still as text.
struct RawHead {
  std::string_view status;
  store::Head head;
};
[[nodiscard]] RawHead read_head(ReplyReader& reader);

/// Deals with a status that any function can answer: reads its fields and sets `head.status`.
/// False, with nothing read, for the statuses of a function's own.
[[nodiscard]] bool read_common(ReplyReader& reader, RawHead& raw, std::string& trouble);
/// Rejects the reply for a status that is not agreed.
void reject_status(ReplyReader& reader, std::string_view status);

[[nodiscard]] core::BackendTime read_time(ReplyReader& reader);
[[nodiscard]] core::Grant read_grant(ReplyReader& reader);
[[nodiscard]] core::LeaseRecord read_record(ReplyReader& reader);
/// A lease state, or nothing for the empty text.
[[nodiscard]] std::optional<core::LeaseState> read_state(ReplyReader& reader);

struct GateBlock {
  store::Gate gate;
  /// Why it does not serve; empty if it does.
  std::string_view reason;
};
[[nodiscard]] GateBlock read_gate(ReplyReader& reader, std::uint32_t partition);

/// current_state and current_expires_at, with original_status: what replays begin with.
struct Replay {
  std::optional<core::LeaseState> current_state;
  core::BackendTime current_expires_at;
  std::string_view original_status;
};
[[nodiscard]] Replay read_replay(ReplyReader& reader);

/// Ends the reading: `decoded` if everything was as agreed.
template <class T>
[[nodiscard]] DecodeResult<T> finish(const ReplyReader& reader, Decoded<T> decoded) {
  if (auto end = reader.finish(); !end) return base::failed(std::move(end.error()));
  return decoded;
}

}  // namespace starlease::valkey::parts

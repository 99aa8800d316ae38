// Replies of the function library to typed results, exactly as lua/README.md lists them. Strict: a
// status or shape that is not in it is a Fault, and so is a record that breaks its own rules. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/valkey/fault.hpp"
#include "lib/base/result.hpp"
#include "lib/store/commands.hpp"

struct redisReply;

namespace starlease::valkey {

template <class T>
struct Decoded {
  T result{};
  /// What an operator should hear of it; usually empty.
  std::string trouble;
};
template <class T>
using DecodeResult = base::Result<Decoded<T>, Fault>;

// `sent_at` of the heads is left to the caller.
[[nodiscard]] DecodeResult<store::AcquireResult> decode_acquire(const redisReply& reply);
/// `asked` is how many renewals the call carried.
[[nodiscard]] DecodeResult<store::TimedRenewalsResult> decode_renew_timed(const redisReply& reply,
                                                                          std::size_t asked);
[[nodiscard]] DecodeResult<store::RenewResult> decode_renew(const redisReply& reply);
[[nodiscard]] DecodeResult<store::ReleaseResult> decode_release(const redisReply& reply);
[[nodiscard]] DecodeResult<store::CommitResult> decode_commit(const redisReply& reply);
[[nodiscard]] DecodeResult<store::InvalidateResult> decode_invalidate(const redisReply& reply);
/// The document's name is left to the caller.
[[nodiscard]] DecodeResult<store::DocumentResult> decode_document(const redisReply& reply);
/// `by`: as asked. What stands under another lock's key than its own is left out.
[[nodiscard]] DecodeResult<store::ListResult> decode_list(const redisReply& reply, core::ListBy by);
[[nodiscard]] DecodeResult<store::HistoryResult> decode_history(const redisReply& reply);
[[nodiscard]] DecodeResult<store::InspectResult> decode_inspect(const redisReply& reply);
[[nodiscard]] DecodeResult<store::ResolveResult> decode_resolve(const redisReply& reply,
                                                                core::Operation operation);
[[nodiscard]] DecodeResult<store::SweepResult> decode_sweep(const redisReply& reply);
/// A gate that does not serve is an answer like any other here: status ok.
[[nodiscard]] DecodeResult<store::GateResult> decode_gate_read(const redisReply& reply,
                                                               std::uint32_t partition);
/// conflict: there is a gate. recovering: no gate, but data.
[[nodiscard]] DecodeResult<store::GateResult> decode_gate_init(const redisReply& reply,
                                                               std::uint32_t partition);
[[nodiscard]] DecodeResult<store::RecoverResult> decode_recover(const redisReply& reply,
                                                                std::uint32_t partition);

}  // namespace starlease::valkey

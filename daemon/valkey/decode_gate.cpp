// Replies about gates: gate_read, gate_init, recover. See decode.hpp.
#include <fmt/core.h>

#include "daemon/valkey/decode_parts.hpp"

namespace starlease::valkey {
namespace {

using parts::RawHead;
using store::Status;

/// How long to wait after a recovery that the clocks forbade.
constexpr core::Milliseconds clock_retry{1000};

/// Reads head and gate block. Nothing if the reply is one that any function can give, which is then
/// already dealt with in `decoded`.
template <class T>
std::optional<RawHead> begin(ReplyReader& reader, std::uint32_t partition, Decoded<T>& decoded) {
  RawHead raw = parts::read_head(reader);
  // "recovering" too carries the block here, so it is not a common status of these functions.
  const bool common =
      raw.status != "recovering" && parts::read_common(reader, raw, decoded.trouble);
  decoded.result.head = raw.head;
  if (common) return std::nullopt;
  decoded.result.gate = parts::read_gate(reader, partition).gate;
  return raw;
}

}  // namespace

DecodeResult<store::GateResult> decode_gate_read(const redisReply& reply, std::uint32_t partition) {
  ReplyReader reader(reply, "gate_read");
  Decoded<store::GateResult> decoded;
  if (const auto raw = begin(reader, partition, decoded)) {
    if (raw->status == "serving" || raw->status == "recovering") {
      decoded.result.head.status = Status::ok;
      const std::string_view missing = reader.text();
      if (!missing.empty()) {
        decoded.trouble = fmt::format("the daemon's user lacks these commands: {}", missing);
      }
    } else {
      parts::reject_status(reader, raw->status);
    }
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::GateResult> decode_gate_init(const redisReply& reply, std::uint32_t partition) {
  ReplyReader reader(reply, "gate_init");
  Decoded<store::GateResult> decoded;
  if (const auto raw = begin(reader, partition, decoded)) {
    Status& status = decoded.result.head.status;
    if (raw->status == "initialized") {
      status = Status::ok;
    } else if (raw->status == "exists") {
      status = Status::conflict;
    } else if (raw->status == "not_new") {
      status = Status::recovering;
    } else {
      parts::reject_status(reader, raw->status);
    }
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::RecoverResult> decode_recover(const redisReply& reply,
                                                  std::uint32_t partition) {
  ReplyReader reader(reply, "recover");
  Decoded<store::RecoverResult> decoded;
  if (const auto raw = begin(reader, partition, decoded)) {
    store::Head& head = decoded.result.head;
    head.status = Status::unavailable;
    if (raw->status == "recovered" || raw->status == "rebound") {
      head.status = Status::ok;
    } else if (raw->status == "conflict") {
      head.status = Status::conflict;
    } else if (raw->status == "exhausted") {
      head.status = Status::exhausted;
    } else if (raw->status == "clock") {
      head.retry_after = clock_retry;
      const std::int64_t difference_ms = reader.integer();
      const std::int64_t behind_ms = reader.integer();
      decoded.trouble = fmt::format(
          "recovery refused: the backend's clock is {} ms ahead of this host's and {} ms behind "
          "the "
          "gate's highest time; correct the clocks",
          difference_ms, behind_ms);
    } else if (raw->status == "mismatch") {
      decoded.trouble =
          "the gate belongs to another namespace id or partition count: correct valkey.namespace "
          "or "
          "valkey.partitions";
    } else if (raw->status == "keep_refused") {
      decoded.trouble = "the leases cannot be kept: the gate is not what this daemon has seen";
    } else {
      parts::reject_status(reader, raw->status);
    }
  }
  return parts::finish(reader, std::move(decoded));
}

}  // namespace starlease::valkey

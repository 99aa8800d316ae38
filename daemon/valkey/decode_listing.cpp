// Replies of many leases; see decode.hpp.
#include <fmt/format.h>

#include "daemon/valkey/decode.hpp"
#include "daemon/valkey/decode_parts.hpp"

namespace starlease::valkey {
namespace {

using store::Status;

store::ListedLease read_listed(ReplyReader& reader) {
  store::ListedLease lease;
  lease.position = reader.text();
  lease.grant = parts::read_grant(reader);
  for (std::string& component : lease.identity.components) component = reader.text();
  return lease;
}

/// An operator should look at what was left out.
std::string say_left_out(std::int64_t count) {
  if (count == 0) return {};
  return fmt::format("{} corrupt records were left out of an answer: inspect tells which", count);
}

}  // namespace

DecodeResult<store::ListResult> decode_list(const redisReply& reply, core::ListBy by) {
  ReplyReader reader(reply, "list");
  Decoded<store::ListResult> decoded;
  store::ListResult& result = decoded.result;
  parts::RawHead raw = parts::read_head(reader);
  const bool common = parts::read_common(reader, raw, decoded.trouble);
  result.head = raw.head;
  if (common) return parts::finish(reader, std::move(decoded));
  if (raw.status != "listed") {
    parts::reject_status(reader, raw.status);
    return parts::finish(reader, std::move(decoded));
  }
  result.head.status = Status::ok;
  result.more = reader.natural() != 0;
  result.reached = reader.text();
  std::int64_t left_out = reader.natural();
  while (reader.good() && reader.left() > 0) {
    store::ListedLease lease = read_listed(reader);
    const core::LockDigest digest = core::lock_digest(lease.identity);
    if (core::list_position(by, lease.identity, digest) == lease.position) {
      result.leases.push_back(std::move(lease));
    } else {
      ++left_out;
    }
  }
  decoded.trouble = say_left_out(left_out);
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::HistoryResult> decode_history(const redisReply& reply) {
  ReplyReader reader(reply, "history");
  Decoded<store::HistoryResult> decoded;
  store::HistoryResult& result = decoded.result;
  parts::RawHead raw = parts::read_head(reader);
  const bool common = parts::read_common(reader, raw, decoded.trouble);
  result.head = raw.head;
  if (common) return parts::finish(reader, std::move(decoded));
  if (raw.status != "history") {
    parts::reject_status(reader, raw.status);
    return parts::finish(reader, std::move(decoded));
  }
  result.head.status = Status::ok;
  result.reached = reader.text();
  decoded.trouble = say_left_out(reader.natural());
  while (reader.good() && reader.left() > 0) result.records.push_back(parts::read_record(reader));
  return parts::finish(reader, std::move(decoded));
}

}  // namespace starlease::valkey

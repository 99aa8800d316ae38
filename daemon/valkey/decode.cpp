// Replies about leases; see the header. Gates are in decode_gate.cpp.
#include "daemon/valkey/decode.hpp"

#include <array>

#include "daemon/valkey/decode_parts.hpp"

namespace starlease::valkey {
namespace {

using core::LeaseState;
using core::Milliseconds;
using store::Status;

// --- stored and fresh answers, by their status
// --------------------------------------------------------

void read_conflict(ReplyReader& reader, store::AcquireResult& result) {
  result.head.status = Status::conflict;
  result.head.retry_after = Milliseconds(reader.natural());
  const std::string_view own = reader.text();
  if (!own.empty()) result.own_lease_id = core::LeaseId(own);
}

void read_acquire_answer(ReplyReader& reader, std::string_view status,
                         store::AcquireResult& result) {
  if (status == "acquired") {
    result.head.status = Status::ok;
    result.grant = parts::read_grant(reader);
  } else if (status == "conflict") {
    read_conflict(reader, result);
  } else {
    parts::reject_status(reader, status);
  }
}

void read_stored_renewal(ReplyReader& reader, std::string_view status, store::RenewResult& result) {
  if (status == "renewed") {
    result.head.status = Status::ok;
    result.grant = parts::read_grant(reader);
  } else if (status == "lost") {
    result.head.status = Status::lost;
    static_cast<void>(parts::read_state(reader));
  } else {
    parts::reject_status(reader, status);
  }
}

void read_release_answer(ReplyReader& reader, std::string_view status,
                         store::ReleaseResult& result) {
  if (status == "released") {
    result.head.status = Status::ok;
    result.released_at = parts::read_time(reader);
    result.lease_id.value = reader.text();
    result.token.value = reader.natural();
  } else if (status == "lost") {
    result.head.status = Status::lost;
    result.state = parts::read_state(reader);
  } else {
    parts::reject_status(reader, status);
  }
}

void read_commit_answer(ReplyReader& reader, std::string_view status, store::CommitResult& result) {
  if (status == "committed") {
    result.head.status = Status::ok;
    result.accepted_at = parts::read_time(reader);
    result.revision = reader.natural();
    result.token.value = reader.natural();
  } else if (status == "commit_conflict") {
    result.head.status = Status::commit_conflict;
    result.revision = reader.natural();
  } else if (status == "lost") {
    result.head.status = Status::lost;
    static_cast<void>(parts::read_state(reader));
  } else {
    parts::reject_status(reader, status);
  }
}

void read_invalidate_answer(ReplyReader& reader, std::string_view status,
                            store::InvalidateResult& result) {
  if (status == "invalidated") {
    result.head.status = Status::ok;
    result.ended_at = parts::read_time(reader);
    result.lease_id.value = reader.text();
    result.token.value = reader.natural();
  } else if (status == "lost") {
    result.head.status = Status::lost;
    static_cast<void>(parts::read_state(reader));
  } else {
    parts::reject_status(reader, status);
  }
}

std::optional<core::DocumentType> parse_document_type(std::string_view text) {
  using enum core::DocumentType;
  for (const auto type : {target_state, result, checkpoint, terminal_state, schedule}) {
    if (core::name(type) == text) return type;
  }
  return std::nullopt;
}

core::Document read_document(ReplyReader& reader) {
  core::Document document;
  const auto type = parse_document_type(reader.text());
  if (reader.good() && !type) reader.reject("unknown type of document");
  document.content.type = type.value_or(core::DocumentType{});
  document.revision = reader.natural();
  document.token.value = reader.natural();
  document.accepted_at = parts::read_time(reader);
  document.content.sequence = reader.natural();
  document.content.next_due = parts::read_time(reader);
  document.content.completed_execution.value = reader.text();
  document.lease_id.value = reader.text();
  document.execution.value = reader.text();
  document.trace.value = reader.text();
  document.content.body = reader.text();
  return document;
}

/// The stored answer of an earlier request, into any of the results that can be replayed.
template <class T, class ReadAnswer>
void read_replayed(ReplyReader& reader, T& result, const parts::Replay& replay,
                   ReadAnswer&& read_answer) {
  result.head.replayed = true;
  read_answer(reader, replay.original_status, result);
  if constexpr (requires { result.current_state; }) {
    if (result.head.status != Status::ok) return;
    if (reader.good() && !replay.current_state) reader.reject("a lease without its current state");
    result.current_state = replay.current_state.value_or(LeaseState::expired);
    result.current_expires_at = replay.current_expires_at;
  }
}

// --- timed renewals
// -----------------------------------------------------------------------------------

/// By the codes of lua/README.md, "starlease1_renew".
constexpr std::array<store::TimedRenewalResult, 8> renewal_codes = {{
    {Status::ok, {}, std::nullopt},
    {Status::ok, {}, std::nullopt},
    {Status::lost, {}, std::nullopt},
    {Status::lost, {}, LeaseState::expired},
    {Status::lost, {}, LeaseState::released},
    {Status::lost, {}, LeaseState::revoked},
    {Status::quarantined, {}, std::nullopt},
    {Status::lost, {}, LeaseState::released, true},
}};

store::TimedRenewalResult read_renewal(ReplyReader& reader) {
  const std::int64_t code = reader.natural();
  const core::BackendTime expires_at = parts::read_time(reader);
  if (code >= static_cast<std::int64_t>(renewal_codes.size())) {
    reader.reject("unknown renewal code");
    return {};
  }
  store::TimedRenewalResult result = renewal_codes[static_cast<std::size_t>(code)];
  result.expires_at = expires_at;
  return result;
}

/// Reads the head; the status if it is one of the function's own, nothing if it was dealt with.
template <class T>
std::optional<std::string_view> begin(ReplyReader& reader, Decoded<T>& decoded) {
  parts::RawHead raw = parts::read_head(reader);
  const bool common = parts::read_common(reader, raw, decoded.trouble);
  decoded.result.head = raw.head;
  if (common) return std::nullopt;
  return raw.status;
}

}  // namespace

DecodeResult<store::AcquireResult> decode_acquire(const redisReply& reply) {
  ReplyReader reader(reply, "acquire");
  Decoded<store::AcquireResult> decoded;
  store::AcquireResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "replayed") {
    read_replayed(reader, result, parts::read_replay(reader), read_acquire_answer);
  } else if (*status == "grace") {
    result.head.status = Status::grace;
    result.head.retry_after = Milliseconds(reader.natural());
  } else if (*status == "exhausted") {
    result.head.status = Status::exhausted;
    decoded.trouble = "fencing tokens are exhausted: nothing is granted any more";
  } else {
    read_acquire_answer(reader, *status, result);
    result.current_expires_at = result.grant.expires_at;
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::TimedRenewalsResult> decode_renew_timed(const redisReply& reply,
                                                            std::size_t asked) {
  ReplyReader reader(reply, "renew");
  Decoded<store::TimedRenewalsResult> decoded;
  store::TimedRenewalsResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status != "renewed") {
    parts::reject_status(reader, *status);
  } else {
    result.head.status = Status::ok;
    result.results.reserve(asked);
    for (std::size_t i = 0; i < asked; ++i) result.results.push_back(read_renewal(reader));
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::RenewResult> decode_renew(const redisReply& reply) {
  ReplyReader reader(reply, "renew_once");
  Decoded<store::RenewResult> decoded;
  store::RenewResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "replayed") {
    read_replayed(reader, result, parts::read_replay(reader), read_stored_renewal);
  } else if (*status == "renewed") {
    result.head.status = Status::ok;
    result.record = parts::read_record(reader);
    result.grant = result.record->grant;
    result.current_expires_at = result.grant.expires_at;
  } else if (*status == "lost") {
    read_stored_renewal(reader, *status, result);
  } else {
    parts::reject_status(reader, *status);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::ReleaseResult> decode_release(const redisReply& reply) {
  ReplyReader reader(reply, "release");
  Decoded<store::ReleaseResult> decoded;
  store::ReleaseResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "replayed") {
    read_replayed(reader, result, parts::read_replay(reader), read_release_answer);
  } else {
    read_release_answer(reader, *status, result);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::CommitResult> decode_commit(const redisReply& reply) {
  ReplyReader reader(reply, "commit");
  Decoded<store::CommitResult> decoded;
  store::CommitResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "replayed") {
    read_replayed(reader, result, parts::read_replay(reader), read_commit_answer);
  } else if (*status == "full") {
    result.head.status = Status::full;
  } else {
    read_commit_answer(reader, *status, result);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::InvalidateResult> decode_invalidate(const redisReply& reply) {
  ReplyReader reader(reply, "invalidate");
  Decoded<store::InvalidateResult> decoded;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "replayed") {
    read_replayed(reader, decoded.result, parts::read_replay(reader), read_invalidate_answer);
  } else {
    read_invalidate_answer(reader, *status, decoded.result);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::DocumentResult> decode_document(const redisReply& reply) {
  ReplyReader reader(reply, "document");
  Decoded<store::DocumentResult> decoded;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "found") {
    decoded.result.head.status = Status::ok;
    decoded.result.document = read_document(reader);
  } else if (*status == "not_found") {
    decoded.result.head.status = Status::not_found;
  } else {
    parts::reject_status(reader, *status);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::InspectResult> decode_inspect(const redisReply& reply) {
  ReplyReader reader(reply, "inspect");
  Decoded<store::InspectResult> decoded;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "found") {
    decoded.result.head.status = Status::ok;
    decoded.result.record = parts::read_record(reader);
  } else if (*status == "not_found") {
    decoded.result.head.status = Status::not_found;
  } else {
    parts::reject_status(reader, *status);
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::ResolveResult> decode_resolve(const redisReply& reply,
                                                  core::Operation operation) {
  ReplyReader reader(reply, "resolve");
  Decoded<store::ResolveResult> decoded;
  store::ResolveResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status == "not_found") {
    result.head.status = Status::not_found;
    return parts::finish(reader, std::move(decoded));
  }
  if (*status != "committed") {
    parts::reject_status(reader, *status);
    return parts::finish(reader, std::move(decoded));
  }
  result.head.status = Status::ok;
  const parts::Replay replay = parts::read_replay(reader);
  result.current_state = replay.current_state.value_or(LeaseState::expired);
  const auto fill = [&](auto original, auto&& read_answer) {
    original.head = result.head;
    read_replayed(reader, original, replay, read_answer);
    result.outcome = std::move(original);
  };
  switch (operation) {
    case core::Operation::acquire:
      fill(store::AcquireResult{}, read_acquire_answer);
      break;
    case core::Operation::renew:
      fill(store::RenewResult{}, read_stored_renewal);
      break;
    case core::Operation::release:
      fill(store::ReleaseResult{}, read_release_answer);
      break;
    case core::Operation::commit:
      fill(store::CommitResult{}, read_commit_answer);
      break;
    case core::Operation::force_release:
    case core::Operation::revoke:
      fill(store::InvalidateResult{}, read_invalidate_answer);
      break;
  }
  return parts::finish(reader, std::move(decoded));
}

DecodeResult<store::SweepResult> decode_sweep(const redisReply& reply) {
  ReplyReader reader(reply, "sweep");
  Decoded<store::SweepResult> decoded;
  store::SweepResult& result = decoded.result;
  const auto status = begin(reader, decoded);
  if (!status) return parts::finish(reader, std::move(decoded));
  if (*status != "swept") {
    parts::reject_status(reader, *status);
    return parts::finish(reader, std::move(decoded));
  }
  result.head.status = Status::ok;
  result.ended = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer()));
  static_cast<void>(reader.integer());  // members of the index without a lease
  const std::int64_t quarantined = reader.integer();
  result.more = reader.integer() != 0;
  if (quarantined > 0) decoded.trouble = "a sweep has put corrupt records into quarantine";
  return parts::finish(reader, std::move(decoded));
}

}  // namespace starlease::valkey

// Common parts of the library's replies; see the header.
#include "daemon/valkey/decode_parts.hpp"

#include <fmt/core.h>

namespace starlease::valkey::parts {
namespace {

using store::Status;

/// Fields of the gate block after `state`, in order; everything that is not needed is read and
/// checked all the same.
void read_gate_numbers(ReplyReader& reader, store::Gate& gate) {
  constexpr std::int64_t us_per_ms = 1000;
  gate.epoch.value = reader.natural();
  gate.token_floor.value = reader.natural();
  gate.highest = core::backend_time(reader.natural() / us_per_ms);
  gate.sequence = reader.natural();
  static_cast<void>(reader.natural());  // largest_ttl_ms
  static_cast<void>(reader.natural());  // recovered_at
  gate.grace_until = read_time(reader);
  static_cast<void>(reader.text());     // namespace_id
  static_cast<void>(reader.natural());  // partition_count
  static_cast<void>(reader.natural());  // schema_version
  static_cast<void>(reader.natural());  // quarantined
  static_cast<void>(reader.natural());  // time_us
}

std::optional<store::GateState> gate_state(std::string_view text) {
  if (text == "serving") return store::GateState::serving;
  if (text == "closed") return store::GateState::closed;
  if (text == "absent") return store::GateState::absent;
  if (text == "corrupt") return store::GateState::corrupt;
  return std::nullopt;
}

std::string copy(ReplyReader& reader) { return std::string(reader.text()); }

}  // namespace

core::BackendTime read_time(ReplyReader& reader) { return core::backend_time(reader.natural()); }

RawHead read_head(ReplyReader& reader) {
  RawHead raw;
  raw.status = reader.text();
  raw.head.now = read_time(reader);
  raw.head.epoch.value = reader.natural();
  raw.head.sequence = reader.natural();
  return raw;
}

bool read_common(ReplyReader& reader, RawHead& raw, std::string& trouble) {
  if (raw.status == "recovering") {
    raw.head.status = Status::recovering;
    static_cast<void>(read_gate(reader, 0));
  } else if (raw.status == "deadline") {
    raw.head.status = Status::deadline_exceeded;
  } else if (raw.status == "idempotency_conflict") {
    raw.head.status = Status::idempotency_conflict;
  } else if (raw.status == "quarantined") {
    raw.head.status = Status::quarantined;
    trouble =
        fmt::format("an identity is quarantined ({}): clear it as an administrator", reader.text());
  } else if (raw.status == "damaged") {
    raw.head.status = Status::quarantined;
    trouble = fmt::format("the partition's key \"{}\" has a foreign type: remove what overwrote it",
                          reader.text());
  } else if (raw.status == "invalid") {
    raw.head.status = Status::unavailable;
    trouble = fmt::format(
        "the function library refused the argument \"{}\": deploy the library of "
        "this version (starlease admin deploy)",
        reader.text());
  } else {
    return false;
  }
  return true;
}

void reject_status(ReplyReader& reader, std::string_view status) {
  reader.reject(fmt::format("unknown status \"{}\"", status.substr(0, 32)));
}

core::Grant read_grant(ReplyReader& reader) {
  core::Grant grant;
  grant.lease_id.value = copy(reader);
  grant.token.value = reader.natural();
  grant.acquired_at = read_time(reader);
  grant.renewed_at = read_time(reader);
  grant.expires_at = read_time(reader);
  grant.ttl = core::Milliseconds(reader.natural());
  if (reader.good() && (!grant.token.valid() || grant.lease_id.empty())) {
    reader.reject("a grant without token or lease id");
  }
  return grant;
}

core::LeaseRecord read_record(ReplyReader& reader) {
  core::LeaseRecord record;
  const auto state = read_state(reader);
  if (reader.good() && !state) reader.reject("a record without state");
  record.state = state.value_or(core::LeaseState::expired);
  core::Grant& grant = record.grant;
  grant.token.value = reader.natural();
  record.epoch.value = reader.natural();
  grant.acquired_at = read_time(reader);
  grant.renewed_at = read_time(reader);
  grant.expires_at = read_time(reader);
  grant.ttl = core::Milliseconds(reader.natural());
  record.maximum_lifetime = core::Milliseconds(reader.natural());
  static_cast<void>(reader.natural());  // renew_sequence
  record.ended_at = read_time(reader);
  record.end_reason = copy(reader);
  grant.lease_id.value = copy(reader);
  record.owner.principal.value = copy(reader);
  record.owner.client.value = copy(reader);
  record.owner.credential.value = copy(reader);
  record.owner.instance.value = copy(reader);
  for (std::string& component : record.identity.components) component = copy(reader);
  record.work.execution.value = copy(reader);
  record.work.job.value = copy(reader);
  record.work.trace.value = copy(reader);
  record.request_id.value = copy(reader);
  record.metadata = copy(reader);
  if (!reader.good()) return record;
  if (auto holds = core::check_record(record); !holds) reader.reject(holds.error());
  return record;
}

std::optional<core::LeaseState> read_state(ReplyReader& reader) {
  const std::string_view text = reader.text();
  if (text.empty()) return std::nullopt;
  const auto state = core::parse_lease_state(text);
  if (!state) reader.reject("unknown lease state");
  return state;
}

GateBlock read_gate(ReplyReader& reader, std::uint32_t partition) {
  GateBlock block;
  store::Gate& gate = block.gate;
  gate.partition = partition;
  block.reason = reader.text();
  gate.observed = copy(reader);
  const std::string_view server = reader.text();
  const std::string_view attested = reader.text();
  gate.on_this_server = !server.empty() && server == attested;
  const auto state = gate_state(reader.text());
  if (reader.good() && !state) reader.reject("unknown gate state");
  gate.state = state.value_or(store::GateState::corrupt);
  // The clock stepped back under this very call: the gate serves nobody, whatever is written in it.
  if (block.reason == "clock") gate.state = store::GateState::closed;
  read_gate_numbers(reader, gate);
  return block;
}

Replay read_replay(ReplyReader& reader) {
  Replay replay;
  replay.current_state = read_state(reader);
  replay.current_expires_at = read_time(reader);
  replay.original_status = reader.text();
  return replay;
}

}  // namespace starlease::valkey::parts

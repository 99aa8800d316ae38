// Identity, lease and envelope as JSON objects, written and read. Every transport that tells of
// leases uses these, so that they look alike everywhere.
#pragma once

#include <optional>
#include <string_view>

#include "lib/core/calls.hpp"
#include "proto-ipc/fields.hpp"
#include "proto-ipc/json_writer.hpp"

namespace starlease::ipc {

// --- writing: each adds one member, except where it says otherwise -----------------------------

/// All seven components, in canonical order.
void write_identity(JsonWriter& writer, std::string_view name, const core::LockIdentity& identity);
/// What a caller gave; absent components stay absent.
void write_identity(JsonWriter& writer, std::string_view name, const core::RawIdentity& identity);
/// The members of `lease`, into the object that is open.
void write_lease_members(JsonWriter& writer, const core::LockIdentity& identity,
                         const core::Grant& grant, core::LeaseState state);
void write_envelope(JsonWriter& writer, std::string_view name, const core::Envelope& envelope);
/// An id that may be missing: null, so that the object always has the same members.
void write_id(JsonWriter& writer, std::string_view name, std::string_view id);
void write_time(JsonWriter& writer, std::string_view name, core::BackendTime time);

// --- reading: members that are absent or wrong are refused in `fields` -------------------------

struct LeaseMembers {
  core::LockIdentity identity;
  core::Grant grant;
  core::LeaseState state{};
};

[[nodiscard]] core::LockIdentity read_lock_identity(Fields& fields, std::string_view name);
/// From the object that `fields` reads.
[[nodiscard]] LeaseMembers read_lease_members(Fields& fields);
[[nodiscard]] core::Envelope read_envelope(Fields& fields, std::string_view name);
/// From the object that `fields` reads.
[[nodiscard]] core::Envelope read_envelope_members(Fields& fields);
[[nodiscard]] core::LeaseId read_lease_id(Fields& fields);
/// Empty for null.
[[nodiscard]] std::string read_optional_id(Fields& fields, std::string_view name);
[[nodiscard]] core::FencingToken read_token(Fields& fields);
[[nodiscard]] core::LeaseState read_state(Fields& fields, std::string_view name);
[[nodiscard]] core::BackendTime read_time(Fields& fields, std::string_view name);

}  // namespace starlease::ipc

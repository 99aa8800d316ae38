// Between the domain's types and those of the installed headers. Pure.
#pragma once

#include <starlease/client.hpp>

#include "lib/core/calls.hpp"

namespace starlease::client {

[[nodiscard]] inline BackendTime public_time(core::BackendTime time) {
  return BackendTime(time.time_since_epoch());
}
[[nodiscard]] LeaseState public_state(core::LeaseState state);
[[nodiscard]] std::optional<LeaseState> public_state(std::optional<core::LeaseState> state);
[[nodiscard]] LossReason public_reason(core::LossReason reason);
[[nodiscard]] BackendState public_backend(core::BackendState state);
[[nodiscard]] Identity public_identity(const core::LockIdentity& identity);
[[nodiscard]] Error public_error(const core::Failure& failure, std::string correlation_id);
[[nodiscard]] Grant public_grant(const core::GrantAnswer& answer);
[[nodiscard]] Released public_released(const core::ReleasedAnswer& answer);
[[nodiscard]] Inspection public_inspection(const core::InspectedAnswer& answer);
[[nodiscard]] Resolution public_resolution(const core::ResolvedAnswer& answer);
[[nodiscard]] Invalidated public_invalidated(const core::InvalidatedAnswer& answer);
[[nodiscard]] Commit public_commit(const core::CommittedAnswer& answer);
[[nodiscard]] Document public_document(const core::DocumentAnswer& answer);
[[nodiscard]] SessionInfo session_info(const core::HelloAnswer& answer);
/// The envelope as compact JSON, as it stands in the answer on the wire.
[[nodiscard]] std::string envelope_json(const core::Envelope& envelope);

/// The envelope that such a text holds; nothing if it is none.
[[nodiscard]] std::optional<core::Envelope> parse_envelope(const std::string& json);
[[nodiscard]] core::DocumentWrite core_write(const DocumentWrite& write);
[[nodiscard]] core::RawIdentity raw_identity(const Identity& identity);
/// REQUIRES: `options.request_id` is not empty.
[[nodiscard]] core::AcquireCall acquire_call(const AcquireOptions& options);
[[nodiscard]] core::Operation core_operation(Operation operation);

}  // namespace starlease::client

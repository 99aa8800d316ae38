// The admin socket; see the header.
#include "lib/client/admin.hpp"

#include "lib/base/base64url.hpp"
#include "lib/client/answered.hpp"
#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"
#include "lib/client/socket_path.hpp"
#include "lib/core/invalidation.hpp"
#include "proto-ipc/request_encoder.hpp"

namespace starlease::client {
namespace {

Result<NamespaceState> namespace_state(Result<Answered> answered) {
  if (!answered) return std::move(answered).error();
  const auto* answer = std::get_if<core::NamespaceAnswer>(&answered->answer);
  if (answer == nullptr) return unexpected_answer();
  NamespaceState state;
  state.name = answer->namespace_name;
  for (const core::PartitionStatus& partition : answer->partitions) {
    state.partitions.push_back({partition.partition, partition.state, partition.epoch.value,
                                partition.token_floor.value, partition.sequence});
  }
  return state;
}

core::InvalidateCall invalidate_call(const Invalidation& act, base::WallTime deadline) {
  core::InvalidateCall call;
  call.operation = core_operation(act.operation);
  call.identity = raw_identity(act.lease.identity);
  call.lease_id = core::LeaseId(act.lease.lease_id);
  call.token = core::FencingToken{act.lease.fencing_token};
  call.request_id = core::RequestId(act.request_id);
  call.deadline_at = deadline;
  call.reason = act.reason;
  call.is_incident = act.is_incident;
  return call;
}

std::string statement_of(const core::InvalidateCall& call) {
  core::LockIdentity identity;
  for (std::size_t i = 0; i < core::component_count; ++i) {
    identity.components[i] = call.identity.components[i].value_or("");
  }
  return core::statement_of(call, identity);
}

core::InvalidateCall signed_call(const Invalidation& act, const base::SigningKey& key,
                                 const std::string& key_id, base::WallTime deadline) {
  core::InvalidateCall call = invalidate_call(act, deadline);
  call.key_id = key_id;
  call.signature = base::base64url_encode(key.sign(statement_of(call)));
  return call;
}

base::WallTime wall_time(std::int64_t ms) { return base::WallTime(core::Milliseconds(ms)); }

}  // namespace

std::string signed_request(const Invalidation& act, const base::SigningKey& key,
                           const std::string& key_id, std::int64_t deadline_ms) {
  return ipc::encode_request(std::int64_t{1},
                             signed_call(act, key, key_id, wall_time(deadline_ms)));
}

std::string statement(const Invalidation& act, std::int64_t deadline_ms) {
  return statement_of(invalidate_call(act, wall_time(deadline_ms)));
}

AdminClient::AdminClient(std::unique_ptr<Engine> engine) noexcept : engine_(std::move(engine)) {}
AdminClient::AdminClient(AdminClient&&) noexcept = default;
AdminClient& AdminClient::operator=(AdminClient&&) noexcept = default;
AdminClient::~AdminClient() = default;

Result<AdminClient> AdminClient::connect(ClientOptions options) {
  options.socket_path = choose_socket_path(options.socket_path, "STARLEASE_ADMIN_SOCKET",
                                           "/run/starlease/admin.sock");
  auto engine = Engine::open(options);
  if (!engine) return std::move(engine).error();
  return AdminClient(std::move(*engine));
}

Result<NamespaceState> AdminClient::namespace_status(std::chrono::milliseconds timeout) {
  return namespace_state(
      engine_->call(core::NamespaceCall{core::NamespaceAction::status}, timeout));
}

Result<NamespaceState> AdminClient::namespace_init(std::chrono::milliseconds timeout) {
  return namespace_state(engine_->call(core::NamespaceCall{core::NamespaceAction::init}, timeout));
}

Result<Inspection> AdminClient::inspect(const Identity& identity,
                                        std::chrono::milliseconds timeout) {
  core::InspectCall call;
  call.identity = raw_identity(identity);
  return as<core::InspectedAnswer>(engine_->call(std::move(call), timeout), public_inspection);
}

Result<Invalidated> AdminClient::invalidate(const Invalidation& act, const base::SigningKey& key,
                                            const std::string& key_id,
                                            std::chrono::milliseconds timeout) {
  const base::WallTime deadline = ProcessClock().wall_now() + timeout;
  Invalidation named = act;
  if (named.request_id.empty()) named.request_id = engine_->new_request_id().value;
  return as<core::InvalidatedAnswer>(
      engine_->call(signed_call(named, key, key_id, deadline), timeout), public_invalidated);
}

Result<Statistics> AdminClient::stats(std::chrono::milliseconds timeout) {
  auto answered = engine_->call(core::StatsCall{}, timeout);
  if (!answered) return std::move(answered).error();
  const auto* answer = std::get_if<core::StatsAnswer>(&answered->answer);
  if (answer == nullptr) return unexpected_answer();
  return answer->values;
}

}  // namespace starlease::client

// The admin socket; see the header.
#include "lib/client/admin.hpp"

#include "lib/client/answered.hpp"
#include "lib/client/engine.hpp"
#include "lib/client/socket_path.hpp"

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

}  // namespace

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

Result<Statistics> AdminClient::stats(std::chrono::milliseconds timeout) {
  auto answered = engine_->call(core::StatsCall{}, timeout);
  if (!answered) return std::move(answered).error();
  const auto* answer = std::get_if<core::StatsAnswer>(&answered->answer);
  if (answer == nullptr) return unexpected_answer();
  return answer->values;
}

}  // namespace starlease::client

// The public face over the engine; see <starlease/client.hpp>.
#include <starlease/client.hpp>

#include "lib/client/answered.hpp"
#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"

namespace starlease {
namespace {

using client::Answered;
using client::as;
using client::not_held;
using client::unexpected_answer;

Result<Pong> as_pong(Result<Answered> answered) {
  return as<core::PongAnswer>(std::move(answered), [](const core::PongAnswer& a) {
    return Pong{client::public_backend(a.backend), a.boot_now.time_since_epoch().count()};
  });
}

Result<Released> as_released(Result<Answered> answered) {
  return as<core::ReleasedAnswer>(std::move(answered), client::public_released);
}

Result<Grant> as_grant(Result<Answered> answered) {
  return as<core::GrantAnswer>(std::move(answered), client::public_grant);
}

core::RequestId request_id(client::Engine& engine, const std::string& given) {
  return given.empty() ? engine.new_request_id() : core::RequestId(given);
}

core::RenewCall renew_call(client::Engine& engine, const std::string& lease_id, std::int64_t token,
                           std::optional<std::chrono::milliseconds> ttl,
                           const CallOptions& options) {
  core::RenewCall call;
  call.lease_id = core::LeaseId(lease_id);
  call.token = core::FencingToken{token};
  call.request_id = request_id(engine, options.request_id);
  call.ttl = ttl;
  return call;
}

core::ReleaseCall release_call(client::Engine& engine, const std::string& lease_id,
                               std::int64_t token, const CallOptions& options) {
  core::ReleaseCall call;
  call.lease_id = core::LeaseId(lease_id);
  call.token = core::FencingToken{token};
  call.request_id = request_id(engine, options.request_id);
  return call;
}

core::AcquireCall acquire_call(client::Engine& engine, const AcquireOptions& options) {
  auto call = client::acquire_call(options);
  call.request_id = request_id(engine, options.request_id);
  return call;
}

std::chrono::milliseconds acquire_timeout(const AcquireOptions& options) {
  constexpr std::chrono::milliseconds standard{5000};
  return options.timeout.value_or(standard + options.wait);
}

}  // namespace

Client::Client(std::unique_ptr<client::Engine> engine) noexcept : engine_(std::move(engine)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::connect(const ClientOptions& options) {
  auto engine = client::Engine::open(options);
  if (!engine) return std::move(engine).error();
  return Client(std::move(*engine));
}

const SessionInfo& Client::session() const noexcept { return engine_->session(); }
const std::string& Client::socket_path() const noexcept { return engine_->path(); }
bool Client::connected() const noexcept { return engine_->ready(); }
void Client::on_event(OnEvent callback) { engine_->on_event(std::move(callback)); }
int Client::fd() const noexcept { return engine_->fd(); }
Result<void> Client::process() { return engine_->process(); }
Result<void> Client::wait(std::chrono::milliseconds timeout) { return engine_->wait(timeout); }

// --- leases
// ---------------------------------------------------------------------------------------

Result<Lease> Client::acquire(const AcquireOptions& options) {
  auto answered = engine_->call(acquire_call(*engine_, options), acquire_timeout(options));
  if (!answered) return std::move(answered).error();
  if (!answered->held) return unexpected_answer();
  return Lease(std::move(answered->held));
}

void Client::start_acquire(const AcquireOptions& options, Callback<Lease> done) {
  engine_->submit(acquire_call(*engine_, options), acquire_timeout(options),
                  [done = std::move(done)](Result<Answered> answered) {
                    if (!answered) return done(std::move(answered).error());
                    if (!answered->held) return done(unexpected_answer());
                    done(Lease(std::move(answered->held)));
                  });
}

void Client::start_renew(Lease& lease, std::optional<std::chrono::milliseconds> ttl,
                         const CallOptions& options, Callback<Grant> done) {
  if (!lease || lease.lost()) {
    return engine_->post([done = std::move(done)] { done(not_held()); });
  }
  engine_->submit(renew_call(*engine_, lease.id(), lease.token(), ttl, options), options.timeout,
                  [engine = engine_.get(), serial = lease.held_->serial,
                   done = std::move(done)](Result<Answered> answered) {
                    // An answer is no authority over a lease that has ended meanwhile.
                    const client::HeldLease* held = engine->find(serial);
                    if (answered && (held == nullptr || held->loss)) return done(not_held());
                    done(as_grant(std::move(answered)));
                  });
}

Result<void> Client::renew(Lease& lease, std::optional<std::chrono::milliseconds> ttl,
                           const CallOptions& options) {
  if (!lease || lease.lost()) return not_held();
  auto answered =
      engine_->call(renew_call(*engine_, lease.id(), lease.token(), ttl, options), options.timeout);
  if (!answered) return std::move(answered).error();
  if (!lease || lease.lost()) return not_held();
  return {};
}

void Client::start_release(Lease lease, const CallOptions& options, Callback<Released> done) {
  if (!lease || lease.lost()) {
    return engine_->post([done = std::move(done)] { done(not_held()); });
  }
  const Grant grant = lease.grant();
  lease.forget();
  engine_->submit(release_call(*engine_, grant.lease.lease_id, grant.lease.fencing_token, options),
                  options.timeout, [done = std::move(done)](Result<Answered> answered) {
                    done(as_released(std::move(answered)));
                  });
}

Result<Released> Client::release(Lease lease, const CallOptions& options) {
  if (!lease || lease.lost()) return not_held();
  const Grant grant = lease.grant();
  lease.forget();
  return release_by_id(grant.lease.lease_id, grant.lease.fencing_token, options);
}

Result<Grant> Client::renew_by_id(const std::string& lease_id, std::int64_t fencing_token,
                                  std::optional<std::chrono::milliseconds> ttl,
                                  const CallOptions& options) {
  return as_grant(
      engine_->call(renew_call(*engine_, lease_id, fencing_token, ttl, options), options.timeout));
}

Result<Released> Client::release_by_id(const std::string& lease_id, std::int64_t fencing_token,
                                       const CallOptions& options) {
  return as_released(
      engine_->call(release_call(*engine_, lease_id, fencing_token, options), options.timeout));
}

// --- questions
// ------------------------------------------------------------------------------------

Result<Inspection> Client::inspect(const Identity& identity, std::chrono::milliseconds timeout) {
  core::InspectCall call;
  call.identity = client::raw_identity(identity);
  return as<core::InspectedAnswer>(engine_->call(std::move(call), timeout),
                                   client::public_inspection);
}

Result<Inspection> Client::inspect_lease(const std::string& lease_id,
                                         std::chrono::milliseconds timeout) {
  core::InspectCall call;
  call.lease_id = core::LeaseId(lease_id);
  return as<core::InspectedAnswer>(engine_->call(std::move(call), timeout),
                                   client::public_inspection);
}

Result<Resolution> Client::resolve(const std::string& request_id, Operation operation,
                                   const Identity& identity, std::chrono::milliseconds timeout) {
  core::ResolveCall call;
  call.request_id = core::RequestId(request_id);
  call.operation = client::core_operation(operation);
  call.identity = client::raw_identity(identity);
  return as<core::ResolvedAnswer>(engine_->call(std::move(call), timeout),
                                  client::public_resolution);
}

Result<Pong> Client::ping(std::chrono::milliseconds timeout) {
  return as_pong(engine_->call(core::PingCall{}, timeout));
}

void Client::start_ping(std::chrono::milliseconds timeout, Callback<Pong> done) {
  engine_->submit(core::PingCall{}, timeout, [done = std::move(done)](Result<Answered> answered) {
    done(as_pong(std::move(answered)));
  });
}

Result<void> Client::goodbye(std::chrono::milliseconds timeout) {
  auto answered = engine_->call(core::GoodbyeCall{}, timeout);
  Error over;
  over.code = ErrorCode::connection_lost;
  over.message = "The session was ended by goodbye; connect again";
  engine_->finish(over, LossReason::released);
  if (!answered) return std::move(answered).error();
  return {};
}

}  // namespace starlease

// The scripted daemon; see the header.
#include "tests/unit/client/scripted_daemon.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "lib/client/socket_path.hpp"
#include "proto-ipc/event_encoder.hpp"
#include "proto-ipc/response_encoder.hpp"

namespace starlease::testing {
namespace {

/// True if `fd` becomes readable within the patience.
bool readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(Peer::patience.count())) == 1;
}

core::GrantAnswer base_grant(const core::LeaseId& id, core::FencingToken token,
                             Milliseconds valid_for) {
  core::GrantAnswer answer;
  answer.identity.components = {"t", "p", "n", "x", "a", "default", "default"};
  answer.grant.lease_id = id;
  answer.grant.token = token;
  answer.grant.acquired_at = core::backend_time(1'786'000'000'000);
  answer.grant.renewed_at = answer.grant.acquired_at;
  answer.grant.ttl = Milliseconds(2000);
  answer.valid_until = client::boot_now() + valid_for;
  answer.valid_for = valid_for;
  // The backend's clock goes on with the host's, so that a later grant expires later.
  answer.grant.expires_at = core::backend_time(
      1'786'000'000'000 + base::floor_ms(answer.valid_until.time_since_epoch()).count());
  answer.envelope = {"starintel:target-lease:v1:k",
                     id,
                     token,
                     answer.grant.expires_at,
                     core::ExecutionId("execution_1"),
                     core::TraceId()};
  return answer;
}

}  // namespace

void Peer::read_more() {
  if (!socket_ || !readable(socket_.get())) throw ScriptError("no request came");
  std::array<std::byte, 4096> bytes{};
  const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) throw ScriptError("the client closed the connection");
  frames_.feed(std::span(bytes).first(static_cast<std::size_t>(size)));
  while (true) {
    const auto payload = frames_.next();
    if (!payload) throw ScriptError("the client broke the framing");
    if (!*payload) return;
    auto decoded = requests_.decode(**payload, false);
    auto* request = std::get_if<ipc::Request>(&decoded);
    if (request == nullptr) throw ScriptError("no valid request: " + std::string(**payload));
    queue_.push_back(std::move(*request));
  }
}

ipc::Request Peer::next() {
  while (queue_.empty()) read_more();
  ipc::Request request = std::move(queue_.front());
  queue_.erase(queue_.begin());
  return request;
}

void Peer::answer(const ipc::RequestId& id, core::Outcome<core::Answer> outcome) {
  raw(ipc::encode_response(id, core::CorrelationId("corr_1"), outcome));
}

void Peer::refuse(core::FailureCode code, std::optional<Milliseconds> retry_after) {
  core::Failure failure = core::failure(code);
  failure.retry_after = retry_after;
  answer(base::failed(std::move(failure)));
}

void Peer::tell(const core::Event& event) { raw(ipc::encode_event(event)); }
void Peer::raw(const std::string& payload) { bytes(ipc::encode_frame(payload)); }

void Peer::bytes(const std::string& bytes) {
  if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    throw ScriptError("the client does not take what it is sent");
  }
}

core::HelloCall Peer::greet(const std::string& instance) {
  const auto hello = expect<core::HelloCall>();
  core::HelloAnswer answer;
  answer.server = "starleased/test";
  answer.owner = {core::PrincipalId("prn_1"), core::ClientId("client_1"),
                  core::CredentialId("key_1"),
                  hello.instance.empty() ? core::ServiceInstanceId(instance) : hello.instance};
  answer.resume = "resume_1";
  answer.limits = {262'144,
                   Milliseconds(1000),
                   Milliseconds(60'000),
                   Milliseconds(30'000),
                   Milliseconds(300'000),
                   Milliseconds(60'000),
                   1000};
  this->answer(answer);
  return hello;
}

core::AcquireCall Peer::grant_first(Milliseconds valid_for, std::int64_t token) {
  greet();
  auto call = expect<core::AcquireCall>();
  answer(granted(call, valid_for, token));
  return call;
}

void Peer::await_close() {
  std::array<char, 4096> bytes{};
  while (socket_) {
    if (!readable(socket_.get())) throw ScriptError("the client does not close the connection");
    if (::recv(socket_.get(), bytes.data(), bytes.size(), 0) <= 0) close();
  }
}

core::GrantAnswer granted(const core::AcquireCall& call, Milliseconds valid_for,
                          std::int64_t token) {
  auto answer = base_grant(core::LeaseId("lease_" + std::to_string(token)),
                           core::FencingToken{token}, valid_for);
  if (call.ttl) answer.grant.ttl = *call.ttl;
  return answer;
}

core::GrantAnswer renewed(const core::RenewCall& call, Milliseconds valid_for) {
  auto answer = base_grant(call.lease_id, call.token, valid_for);
  answer.renewed = true;
  if (call.ttl) answer.grant.ttl = *call.ttl;
  return answer;
}

core::ReleasedAnswer released(const core::ReleaseCall& call) {
  return {call.lease_id, call.token, core::backend_time(1'786'000'001'000), std::nullopt};
}

core::LeaseLost lost(const core::GrantAnswer& grant, core::LossReason reason) {
  core::LeaseLost event;
  event.lease_id = grant.grant.lease_id;
  event.token = grant.grant.token;
  event.identity = grant.identity;
  event.reason = reason;
  event.valid_for = base::floor_ms(grant.valid_until - client::boot_now());
  return event;
}

core::LeaseRenewedNotice notice(const core::GrantAnswer& grant, Milliseconds valid_for) {
  const auto later = base_grant(grant.grant.lease_id, grant.grant.token, valid_for);
  return {grant.grant.lease_id, grant.grant.token, later.grant.expires_at, valid_for,
          later.valid_until};
}

ScriptedDaemon::ScriptedDaemon(std::vector<Script> scripts) {
  std::string folder = std::filesystem::temp_directory_path() / "starlease-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw ScriptError("no folder can be made");
  folder_ = folder;
  path_ = folder_ + "/s";
  const auto address = client::socket_address(path_);
  listener_ = client::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* where = reinterpret_cast<const sockaddr*>(&address->value);
  if (::bind(listener_.get(), where, address->length) != 0 || ::listen(listener_.get(), 16) != 0) {
    throw ScriptError("the socket cannot be made");
  }
  thread_ = std::thread([this, scripts = std::move(scripts)] { serve(scripts); });
}

ScriptedDaemon::~ScriptedDaemon() {
  const std::string trouble = finish();
  CHECK_MESSAGE(trouble.empty(), trouble);
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::string ScriptedDaemon::finish() {
  if (thread_.joinable()) thread_.join();
  return trouble_;
}

void ScriptedDaemon::serve(const std::vector<Script>& scripts) {
  std::size_t number = 0;
  for (const Script& script : scripts) {
    ++number;
    try {
      if (!readable(listener_.get())) throw ScriptError("nobody connected");
      Peer peer(client::UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
      if (number == scripts.size()) listener_.reset();
      script(peer);
    } catch (const std::exception& error) {
      trouble_ = "connection " + std::to_string(number) + ": " + error.what();
      break;
    }
  }
  listener_.reset();
}

}  // namespace starlease::testing

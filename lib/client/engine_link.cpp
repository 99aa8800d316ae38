// Connecting, greeting, losing the connection and taking the session up again; see engine.hpp.
#include <cerrno>
#include <cstring>

#include <algorithm>

#include "lib/base/crypto.hpp"
#include "lib/client/check_call.hpp"
#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"
#include "proto-ipc/request_encoder.hpp"

namespace starlease::client {
namespace {

constexpr Milliseconds first_connect_pause{10};
constexpr Milliseconds longest_connect_pause{500};
/// A full backlog empties within moments.
constexpr Milliseconds busy_pause{5};

/// The frame number of hello; calls count from 1.
constexpr std::int64_t hello_number = 0;

Error cannot_connect(const std::string& path, int reason) {
  Error error;
  error.code = ErrorCode::no_daemon;
  error.message = "No daemon at " + path + " (" + std::strerror(reason) + "); ";
  error.message += reason == EACCES ? "this user may not open the socket"
                                    : "start starleased, or give the right socket";
  return error;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const ClientOptions& options) {
  const std::string path =
      choose_socket_path(options.socket_path, "STARLEASE_SOCKET", "/run/starlease/starleased.sock");
  auto address = socket_address(path);
  if (!address) return address.error();
  if (!base::crypto_start()) {
    Error error;
    error.code = ErrorCode::no_daemon;
    error.message = "The system gives no randomness, so no request ids can be made";
    return error;
  }
  auto wakeup = Wakeup::make();
  if (!wakeup) return wakeup.error();
  std::unique_ptr<Engine> engine(new Engine(options, path, *address, std::move(*wakeup)));
  auto greeted = engine->greet_first(boot_now() + options.connect_timeout);
  if (!greeted) return greeted.error();
  return engine;
}

Result<void> Engine::greet_first(BootTime deadline) {
  Error late;
  late.code = ErrorCode::no_daemon;
  late.message = "What listens at " + path_ +
                 " did not answer the greeting in time: a stopped daemon, or no starleased";
  while (link_ != Link::ready) {
    const BootTime now = boot_now();
    if (now >= deadline) return late;
    if (link_ == Link::down) {
      connect();
      if (fatal_) return *fatal_;
      if (link_ == Link::down) wakeup_.wait(std::min(busy_pause, base::floor_ms(deadline - now)));
      continue;
    }
    hello_deadline_ = deadline;
    wakeup_.wait(base::floor_ms(deadline - now));
    advance();
    if (fatal_) return *fatal_;
  }
  opening_ = false;
  arm();
  return {};
}

void Engine::connect() {
  switch (connection_.open(address_)) {
    case Connection::Attempt::connected:
      return say_hello();
    case Connection::Attempt::busy:
      connect_at_ = boot_now() + busy_pause;
      return;
    case Connection::Attempt::refused:
      if (opening_) {
        fatal_ = cannot_connect(path_, errno);
      } else {
        reconnect_later(boot_now());
      }
      return;
  }
}

void Engine::reconnect_later(BootTime now) {
  connect_pause_ = std::clamp(2 * connect_pause_, first_connect_pause, longest_connect_pause);
  // Jitter of a half keeps a crowd of clients from coming back together.
  const auto half = static_cast<std::uint64_t>(connect_pause_.count() / 2);
  connect_at_ =
      now + connect_pause_ - Milliseconds(static_cast<std::int64_t>(random_.below(half + 1)));
}

void Engine::say_hello() {
  link_ = Link::greeting;
  hello_deadline_ = boot_now() + options_.connect_timeout;
  core::HelloCall hello;
  hello.protocol = core::protocol_version;
  hello.client = options_.name;
  hello.credential = options_.credential;
  hello.instance = core::ServiceInstanceId(session_.service_instance_id);
  hello.resume = session_.resume;
  hello.notify_renewed = true;
  hello.notify_backend = options_.watch_backend;
  if (const auto error = check_call(hello)) return finish(*error);
  const std::string payload = ipc::encode_request(hello_number, hello);
  const bool fits = payload.size() <= connection_.frame_limit() && connection_.send(payload);
  if (!fits || !connection_.flush()) return disconnected();
  arm();
}

void Engine::on_hello(Result<core::Answer> answer) {
  if (!answer) return on_hello_refused(std::move(answer).error());
  const auto* hello = std::get_if<core::HelloAnswer>(&*answer);
  if (hello == nullptr) {
    Error error;
    error.code = ErrorCode::protocol_violation;
    error.message = "The daemon answered the greeting with something else";
    return finish(error);
  }
  on_session(*hello);
}

void Engine::on_session(const core::HelloAnswer& answer) {
  const bool resumed = answer.owner.instance.value == session_.service_instance_id;
  const bool first = opening_;
  session_ = session_info(answer);
  connection_.limit_frames(
      static_cast<std::size_t>(std::max<std::int64_t>(1, session_.max_frame_bytes)));
  link_ = Link::ready;
  connect_pause_ = Milliseconds(0);
  // What is still valid is claimed before anything else is asked.
  for (const std::uint64_t serial : leases_.held()) {
    HeldLease& lease = *leases_.find(serial);
    if (resumed)
      reattach(lease);
    else
      lose(lease, LossReason::connection_lost, {});
  }
  for (const Number number : calls_.unsent()) send(number);
  if (!first) {
    Event event;
    event.kind = EventKind::reconnected;
    event.backend = session_.backend;
    tell(std::move(event));
  }
}

void Engine::on_hello_refused(Error error) {
  const bool foreign_session = error.field == "resume" || error.field == "service_instance_id";
  if (!opening_ && foreign_session && !session_.resume.empty()) {
    // The daemon knows no such session: begin a new one, without the leases.
    session_.service_instance_id.clear();
    session_.resume.clear();
    for (const std::uint64_t serial : leases_.held()) {
      lose(*leases_.find(serial), LossReason::connection_lost, {});
    }
    return disconnected();
  }
  if (!opening_ && error.retryable()) return disconnected();
  finish(error);
}

void Engine::disconnected() {
  if (fatal_) return;
  const bool was_ready = link_ == Link::ready;
  connection_.close();
  wakeup_.forget();
  link_ = Link::down;
  Error error;
  if (opening_) {
    error.code = ErrorCode::no_daemon;
    error.message = "The daemon at " + path_ + " closed the connection at the greeting";
    return finish(error);
  }
  calls_.connection_closed();
  abandoned_.clear();
  for (const std::uint64_t serial : leases_.held()) leases_.find(serial)->attached = false;
  if (!options_.reconnect) {
    error.code = ErrorCode::connection_lost;
    error.message = "The daemon closed the connection; what was asked may have been done";
    return finish(error);
  }
  if (was_ready) {
    connect_at_ = boot_now();
    Event event;
    event.kind = EventKind::disconnected;
    tell(std::move(event));
  } else {
    reconnect_later(boot_now());
  }
}

void Engine::reattach(HeldLease& lease) {
  const LeaseInfo& info = lease.grant.lease;
  core::RenewCall call;
  call.lease_id = core::LeaseId(info.lease_id);
  call.token = core::FencingToken{info.fencing_token};
  call.request_id = new_request_id();
  // A daemon that was restarted does not know the TTL of the lease.
  call.ttl = info.ttl;
  const auto left = base::floor_ms(lease.valid_until() - boot_now());
  submit(
      std::move(call), left,
      [this, serial = lease.serial](const Result<Answered>& answered) {
        HeldLease* held = leases_.find(serial);
        if (answered || held == nullptr || held->loss) return;
        // What may still come about is ended by the clock.
        const Error& error = answered.error();
        if (!error.retryable()) lose(*held, LossReason::renewal_rejected, {});
      },
      Retry::all_retryable);
}

}  // namespace starlease::client

// The course of a link: attempts, greeting, calls, end. Waiting is in link_timer.cpp; see the
// header.
#include "daemon/valkey/link.hpp"

#include <fmt/core.h>

#include <utility>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/greeting.hpp"
#include "lib/base/assert.hpp"

namespace starlease::valkey {
namespace {

/// The same failure is logged again after this long.
constexpr Milliseconds repeat_log_after{30'000};

}  // namespace

Link::Link(const LinkSeams& seams, const Endpoint& endpoint, std::string name, LinkOwner& owner)
    : seams_(seams),
      endpoint_(endpoint),
      name_(std::move(name)),
      owner_(owner),
      resolver_(seams.loop),
      backoff_(endpoint.reconnect_min, endpoint.reconnect_max, seams.random),
      answer_soon_(
          seams.loop, [](void* self) { static_cast<Link*>(self)->answer_deferred(); }, this) {}

Link::~Link() = default;

void Link::start() {
  SL_ASSERT(state_ == State::idle);
  // Not from inside the call: the owner is told of nothing before it has returned.
  state_ = State::waiting;
  state_until_ = seams_.clock.boot_now();
  arm();
}

void Link::attempt() {
  state_until_ = seams_.clock.boot_now() + endpoint_.connect_timeout;
  next_address_ = 0;
  connected_ = false;
  if (endpoint_.tls.enabled) {
    auto tls = TlsContext::load(endpoint_);
    if (!tls) return attempt_failed(tls.error());
    tls_ = std::make_unique<TlsContext>(std::move(*tls));
  }
  if (!endpoint_.unix_path.empty() || is_address(endpoint_.host)) {
    addresses_ = {endpoint_.host};
    state_ = State::connecting;
    return connect_next();
  }
  state_ = State::resolving;
  const bool asked = resolver_.resolve(endpoint_.host, [this](Resolver::Addresses found) {
    if (!found) {
      return attempt_failed({fmt::format("cannot resolve {}: {}", endpoint_.host, found.error()),
                             "check the host name and the machine's resolver"});
    }
    addresses_ = std::move(*found);
    state_ = State::connecting;
    connect_next();
  });
  if (!asked) attempt_failed({fmt::format("{} is no host name", endpoint_.host), ""});
}

void Link::connect_next() {
  Address address;
  address.unix_path = endpoint_.unix_path;
  address.address = addresses_[next_address_++];
  address.port = endpoint_.port;
  auto wire = Wire::open(seams_.loop, address, tls_.get(), *this);
  if (!wire) return on_closed(wire.error());
  wire_ = std::move(*wire);
  arm();
}

void Link::on_connected() {
  connected_ = true;
  greet();
}

void Link::greet() {
  auto hello = greeting(endpoint_, name_);
  if (!hello) return attempt_failed({"the password cannot be read: " + hello.error(), ""});
  const BootTime now = seams_.clock.boot_now();
  const auto id = pending_.add(now, state_until_, [this](const CallAnswer& a) { on_hello(a); });
  const bool sent = wire_->send(*hello, id);
  base::wipe(*hello);
  // A wire that does not take it is going down, and says so by on_closed().
  if (!sent) static_cast<void>(pending_.take_back());
}

void Link::on_hello(const CallAnswer& answer) {
  if (answer.end != CallEnd::answered) return;  // the end of the attempt is dealt with elsewhere
  if (auto refused = refusal(*answer.reply)) return attempt_failed(*refused);
  wire_->greeted();
  state_ = State::up;
  up_since_ = last_reply_at_ = answer.received_at;
  last_failure_.clear();
  seams_.log.info("connected to Valkey", {{"link", name_}, {"server", describe(endpoint_)}});
  arm();
  owner_.on_link_up(*answer.reply);
}

void Link::call(const std::string& command, BootTime deadline, Answered done) {
  if (state_ != State::up || pending_.size() >= endpoint_.max_pending) {
    return defer(std::move(done), CallEnd::not_sent);
  }
  const BootTime now = seams_.clock.boot_now();
  if (deadline <= now) return defer(std::move(done), CallEnd::expired_unsent);
  const auto id = pending_.add(now, deadline, std::move(done));
  if (!wire_->send(command, id)) return defer(pending_.take_back(), CallEnd::not_sent);
  arm();
}

bool Link::subscribe(const std::string& command) {
  return state_ == State::up && wire_->subscribe(command);
}

void Link::on_reply(std::uint64_t id, const redisReply& reply) {
  last_reply_at_ = seams_.clock.boot_now();
  auto call = pending_.take(id);
  if (!call) return drop({"an answer came that belongs to no question", ""});
  if (state_ == State::retiring && pending_.empty()) {
    state_until_ = last_reply_at_;
    arm();
  }
  // Last, as the caller may destroy this link.
  if (call->done) call->done({CallEnd::answered, call->sent_at, last_reply_at_, &reply});
}

void Link::on_push(const redisReply& push) {
  last_reply_at_ = seams_.clock.boot_now();
  owner_.on_push(push);
}

void Link::on_closed(const Fault& why) {
  if (state_ == State::connecting && !connected_ && next_address_ < addresses_.size()) {
    return connect_next();
  }
  if (state_ == State::connecting) return attempt_failed(why);
  drop(state_ == State::retiring ? retiring_for_ : why);
}

void Link::attempt_failed(const Fault& why) {
  resolver_.cancel();
  wire_.reset();
  static_cast<void>(pending_.take_all());  // the greeting at most
  log_failure(why);
  state_ = State::waiting;
  state_until_ = seams_.clock.boot_now() + backoff_.next();
  arm();
  owner_.on_attempt_failed(why);
}

void Link::retire(const Fault& why) {
  if (state_ != State::up) return;
  state_ = State::retiring;
  retiring_for_ = why;
  const BootTime now = seams_.clock.boot_now();
  // On the next turn at the earliest: answers that have arrived are still handed out.
  state_until_ = pending_.empty() ? now : now + endpoint_.dead_after;
  arm();
}

void Link::drop(const Fault& why) {
  if (state_ != State::up && state_ != State::retiring) return;
  wire_.reset();
  const BootTime now = seams_.clock.boot_now();
  // A server that takes us and throws us out at once must not be asked without pause.
  if (now - up_since_ >= endpoint_.reconnect_max) backoff_.reset();
  state_ = State::waiting;
  state_until_ = now + backoff_.next();
  log_failure(why);
  arm();
  const Lifeline::Probe probe(life_);
  for (PendingCall& call : pending_.take_all()) {
    call.done({CallEnd::broken, call.sent_at, {}, nullptr});
    if (probe.gone()) return;
  }
  owner_.on_link_down(why);
}

void Link::log_failure(const Fault& why) {
  const BootTime now = seams_.clock.boot_now();
  if (why.what == last_failure_ && now - failure_logged_at_ < repeat_log_after) return;
  last_failure_ = why.what;
  failure_logged_at_ = now;
  seams_.log.warning("no connection to Valkey", {{"link", name_},
                                                 {"server", describe(endpoint_)},
                                                 {"reason", why.what},
                                                 {"what_to_do", why.remedy}});
}

Milliseconds Link::retry_after() const {
  if (state_ == State::up) return Milliseconds(0);
  const auto wait = state_until_ - seams_.clock.boot_now();
  return state_ == State::waiting && wait.count() > 0 ? base::floor_ms(wait) + Milliseconds(1)
                                                      : endpoint_.reconnect_min;
}

}  // namespace starlease::valkey

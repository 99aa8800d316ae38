// What a link waits for, on one timer: the end of an attempt, the next attempt, deadlines of calls,
// the next ping, and the verdict that a silent connection is dead.
#include <algorithm>
#include <utility>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/link.hpp"

namespace starlease::valkey {
namespace {

/// A timer this late means that we were stopped ourselves.
constexpr Milliseconds stall{200};
/// How long after a stall replies are read before silence counts.
constexpr Milliseconds stall_grace{200};

}  // namespace

void Link::defer(Answered done, CallEnd end) {
  unsent_.push_back({std::move(done), end});
  answer_soon_.schedule();
}

BootTime Link::next_due() {
  switch (state_) {
    case State::idle:
      return BootTime::max();
    case State::resolving:
    case State::connecting:
    case State::waiting:
      return state_until_;
    case State::up:
    case State::retiring:
      break;
  }
  BootTime due = state_ == State::retiring ? state_until_ : BootTime::max();
  if (pending_.empty()) {
    due = std::min(due, last_reply_at_ + endpoint_.ping_every);
  } else {
    const BootTime silent_since = std::max(last_reply_at_, pending_.oldest_sent_at());
    due = std::min(due, std::max(silent_since + endpoint_.dead_after, no_verdict_before_));
  }
  if (const auto deadline = pending_.next_deadline()) due = std::min(due, *deadline);
  return due;
}

void Link::arm() {
  const BootTime due = next_due();
  // An armed timer that is too early only looks again; most calls are answered long before theirs.
  if (due >= armed_for_) return;
  armed_for_ = due;
  timer_ = seams_.timers.at(due, [this] { on_timer(); });
}

void Link::on_timer() {
  const BootTime now = seams_.clock.boot_now();
  const BootTime was_due = std::exchange(armed_for_, BootTime::max());
  if (now - was_due > stall) no_verdict_before_ = now + stall_grace;
  const Lifeline::Probe probe(life_);
  if (!answer_expired(now)) return;
  switch (state_) {
    case State::idle:
      break;
    case State::resolving:
    case State::connecting:
      if (now >= state_until_) {
        const std::string stage = wire_ ? wire_->stage() : "name resolution";
        attempt_failed({"no answer in time to " + stage,
                        stage == "the TLS handshake" ? "check that the port speaks TLS"
                                                     : "check address, network and firewall"});
      }
      break;
    case State::waiting:
      if (now >= state_until_) attempt();
      break;
    case State::retiring:
      if (now >= state_until_) {
        drop(retiring_for_);
        break;
      }
      [[fallthrough]];
    case State::up:
      judge_silence(now);
      break;
  }
  if (!probe.gone()) arm();
}

void Link::judge_silence(BootTime now) {
  if (pending_.empty()) {
    if (now < last_reply_at_ + endpoint_.ping_every || state_ != State::up) return;
    return call(Command("PING").finish(), now + endpoint_.dead_after, [](const CallAnswer&) {});
  }
  const BootTime silent_since = std::max(last_reply_at_, pending_.oldest_sent_at());
  if (now < silent_since + endpoint_.dead_after || now < no_verdict_before_) return;
  drop({"the server answered nothing for " + std::to_string(endpoint_.dead_after.count()) + " ms",
        "check that the server runs and the network passes packets"});
}

void Link::answer_deferred() {
  const Lifeline::Probe probe(life_);
  for (Unsent& unsent : std::exchange(unsent_, {})) {
    unsent.done({unsent.end, {}, {}, nullptr});
    if (probe.gone()) return;
  }
}

bool Link::answer_expired(BootTime now) {
  const Lifeline::Probe probe(life_);
  if (state_ != State::up && state_ != State::retiring) return true;
  for (PendingCall& call : pending_.take_expired(now)) {
    call.done({CallEnd::expired_sent, call.sent_at, {}, nullptr});
    if (probe.gone()) return false;
  }
  return true;
}

}  // namespace starlease::valkey

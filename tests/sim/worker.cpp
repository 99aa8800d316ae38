// A worker's life; see the header.
#include "tests/sim/worker.hpp"

#include "proto-ipc/request_encoder.hpp"

namespace starlease::sim {
namespace {

constexpr Milliseconds lifetime_of_the_hasty{3000};
constexpr std::size_t past_envelopes = 4;

core::RawIdentity identity_of(const std::string& target) {
  core::RawIdentity raw;
  raw.components = {"tenant", "program", "ns", target, "actor", std::nullopt, std::nullopt};
  return raw;
}

bool may_be_done(core::FailureCode code) { return core::retryable(code); }

}  // namespace

Worker::Worker(std::uint64_t id, EventQueue& queue, const Host& host, Door& door, Chance chance,
               const Habits& habits, std::vector<Observer*>& observers)
    : id_(id),
      queue_(queue),
      host_(host),
      door_(door),
      chance_(chance),
      habits_(habits),
      observers_(observers) {
  be_born();
}

void Worker::be_born() { process_ = std::make_shared<Process>(queue_, host_, chance_.fork(), 2ms); }

void Worker::start() {
  process_->enter_after(chance_.span(1ms, 200ms), [this] { connect(); });
}

void Worker::finish() {
  finishing_ = true;
  process_->go_on();
  if (!greeted_ && held_.empty() && !lanes_) gone_ = true;
}

void Worker::probe(std::vector<std::string> targets, Milliseconds wait) {
  probing_ = true;
  wanted_ = std::move(targets);
  probe_wait_ = wait;
  connect();
}

void Worker::die() {
  while (!held_.empty()) forget(held_.size() - 1);
  if (lanes_) close(true);
  process_->die();
  timer_.reset();
  asked_.clear();
  attempt_.reset();
  instance_ = {};
  resume_.clear();
  be_born();
  if (finishing_) {
    gone_ = true;
  } else {
    process_->enter_after(chance_.span(20ms, 1s), [this] { connect(); });
  }
}

const core::Call* Worker::asked(const ipc::RequestId& id) const {
  const auto* number = std::get_if<std::int64_t>(&id);
  if (number == nullptr) return nullptr;
  const auto found = asked_.find(*number);
  return found == asked_.end() ? nullptr : &found->second;
}

// --- the connection -----------------------------------------------------------------------------

void Worker::connect() {
  if (lanes_ || gone_) return;
  lanes_ = door_.connect(*this);
  if (!lanes_) {
    if (finishing_) {
      gone_ = true;
      return;
    }
    process_->enter_after(chance_.span(10ms, 300ms), [this] { connect(); });
    return;
  }
  lanes_->to_worker->receiver = process_;
  lanes_->to_worker->on_bytes = [this](const std::string& bytes) { on_bytes(bytes); };
  lanes_->to_worker->on_end = [this] { close(false); };
  frames_ = ipc::FrameDecoder(262'144);
  asked_.clear();
  core::HelloCall hello;
  hello.protocol = core::protocol_version;
  hello.client = "sim/1";
  hello.notify_renewed = true;
  hello.notify_backend = chance_.happens(0.5);
  if (!resume_.empty() && (probing_ || chance_.happens(habits_.resumes))) {
    hello.instance = instance_;
    hello.resume = resume_;
  } else {
    // A new session: what the old one held is not this one's.
    while (!held_.empty()) forget(held_.size() - 1);
    attempt_.reset();
  }
  ask(std::move(hello));
}

void Worker::close(bool by_us) {
  auto lanes = std::exchange(lanes_, std::nullopt);
  if (!lanes) return;
  lanes->to_worker->on_bytes = nullptr;
  lanes->to_worker->on_end = nullptr;
  lanes->to_daemon->end(lanes->to_daemon);
  greeted_ = false;
  timer_.reset();
  for (std::size_t i = held_.size(); i-- > 0;) {
    if (!held_[i].keep) forget(i);
  }
  if (attempt_) attempt_->asked = false;
  if (gone_) return;
  if (finishing_ && by_us) {
    gone_ = true;
    return;
  }
  process_->enter_after(chance_.span(1ms, 300ms), [this] { connect(); });
}

void Worker::ask(core::Call call) {
  const std::int64_t id = ++last_id_;
  const std::string payload = ipc::encode_request(id, call);
  asked_.emplace(id, std::move(call));
  lanes_->to_daemon->send(lanes_->to_daemon, ipc::encode_frame(payload));
}

// --- what it does -------------------------------------------------------------------------------

void Worker::think() {
  if (!greeted_) return;
  const Nanoseconds pause = chance_.tail(finishing_ || probing_ ? 5ms : habits_.thinks, 3s);
  timer_ = process_->at(host_.boot_now() + pause, [this] {
    timer_.reset();
    act();
  });
}

void Worker::act() {
  if (!greeted_) return;
  forget_expired();
  if (finishing_) {
    act_finish();
  } else if (probing_) {
    act_probe();
  } else {
    act_on_leases();
  }
  if (greeted_ && !timer_) think();
}

void Worker::act_finish() {
  if (!held_.empty()) return give_back(held_.size() - 1);
  if (attempt_ && attempt_->asked) return;
  attempt_.reset();
  ask(core::GoodbyeCall{});
  close(true);
}

void Worker::act_probe() {
  if (!held_.empty()) return give_back(held_.size() - 1);
  if (attempt_) {
    if (!attempt_->asked) attempt();
    return;
  }
  if (wanted_.empty()) return;
  attempt_.emplace();
  attempt_->call.identity = identity_of(wanted_.back());
  attempt_->call.request_id =
      core::RequestId("w" + std::to_string(id_) + "-" + std::to_string(++last_request_));
  attempt_->call.ttl = habits_.longest_ttl;
  attempt_->call.wait = probe_wait_;
  attempt_->call.deadline.timeout = probe_wait_ + Milliseconds(500);
  attempt();
}

void Worker::act_on_leases() {
  if (chance_.happens(habits_.closes)) return close(true);
  if (chance_.happens(habits_.says_goodbye)) {
    ask(core::GoodbyeCall{});
    while (!held_.empty()) forget(held_.size() - 1);
    return close(true);
  }
  if (chance_.happens(habits_.floods)) {
    for (int i = 0; i < 200; ++i) ask(core::PingCall{});
  }
  if (attempt_ && !attempt_->asked) return attempt();
  const bool wants_more = !attempt_ && static_cast<int>(held_.size()) < habits_.leases_at_once;
  if (wants_more && (held_.empty() || chance_.happens(0.5))) {
    attempt_.emplace();
    attempt_->call = new_acquire();
    return attempt();
  }
  if (!past_.empty() && chance_.happens(habits_.writes_late)) {
    return commit(past_[static_cast<std::size_t>(chance_.below(past_.size()))]);
  }
  if (held_.empty()) return;
  const std::size_t one = static_cast<std::size_t>(chance_.below(held_.size()));
  if (chance_.happens(habits_.writes)) return commit(held_[one].envelope);
  if (held_[one].manual ? chance_.happens(0.7) : chance_.happens(0.1)) {
    renew(held_[one]);
  } else if (chance_.happens(0.3)) {
    give_back(one);
  } else if (chance_.happens(0.2)) {
    core::InspectCall call;
    call.lease_id = held_[one].belief.lease_id;
    ask(std::move(call));
  }
}

core::AcquireCall Worker::new_acquire() {
  core::AcquireCall call;
  call.identity = identity_of("t" + std::to_string(chance_.between(1, habits_.identities)));
  call.request_id =
      core::RequestId("w" + std::to_string(id_) + "-" + std::to_string(++last_request_));
  call.ttl =
      Milliseconds(chance_.between(habits_.shortest_ttl.count(), habits_.longest_ttl.count()));
  if (chance_.happens(habits_.waits)) call.wait = Milliseconds(chance_.between(50, 4000));
  call.deadline.timeout = Milliseconds(chance_.between(100, 5000));
  if (chance_.happens(habits_.keeps)) call.on_disconnect = core::OnDisconnect::keep;
  if (chance_.happens(habits_.renews_by_hand)) call.renew = core::RenewMode::manual;
  if (chance_.happens(habits_.heartbeat)) call.heartbeat = Milliseconds(chance_.between(200, 900));
  if (chance_.happens(habits_.short_lifetime)) call.maximum_lifetime = lifetime_of_the_hasty;
  return call;
}

void Worker::attempt() {
  attempt_->asked = true;
  ask(attempt_->call);
}

void Worker::give_back(std::size_t index) {
  const Belief& belief = held_[index].belief;
  core::ReleaseCall call;
  call.lease_id = belief.lease_id;
  call.token = {belief.token};
  call.request_id =
      core::RequestId("w" + std::to_string(id_) + "-" + std::to_string(++last_request_));
  ask(std::move(call));
  // From now on it does not rely on it, whatever the answer is.
  forget(index);
}

void Worker::renew(const Held& held) {
  core::RenewCall call;
  call.lease_id = held.belief.lease_id;
  call.token = {held.belief.token};
  call.request_id =
      core::RequestId("w" + std::to_string(id_) + "-" + std::to_string(++last_request_));
  call.deadline.timeout = Milliseconds(chance_.between(100, 2000));
  ask(std::move(call));
}

void Worker::commit(const core::Envelope& envelope) {
  // Now and then the last one again, as if its answer had been lost.
  if (last_commit_ && chance_.happens(0.2)) return ask(*last_commit_);
  core::CommitCall call;
  call.envelope = envelope;
  call.request_id =
      core::RequestId("w" + std::to_string(id_) + "-" + std::to_string(++last_request_));
  call.deadline.timeout = Milliseconds(chance_.between(100, 2000));
  if (chance_.happens(0.7)) {
    call.write.emplace();
    call.write->content.name = "n" + std::to_string(chance_.below(2));
    call.write->content.type = core::DocumentType::target_state;
    call.write->content.body = "{}";
    call.write->expect_revision = revisions_[envelope.lock_key + call.write->content.name];
  }
  last_commit_ = call;
  ask(std::move(call));
}

void Worker::forget(std::size_t index) {
  past_.push_back(held_[index].envelope);
  if (past_.size() > past_envelopes) past_.pop_front();
  const core::LeaseId id = held_[index].belief.lease_id;
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
  for (Observer* o : observers_) o->believes_no_more(queue_.now(), id_, id);
}

void Worker::forget_expired() {
  for (std::size_t i = held_.size(); i-- > 0;) {
    if (held_[i].belief.valid_until <= host_.boot_now()) forget(i);
  }
}

Worker::Held* Worker::find(const core::LeaseId& id) {
  const auto found = std::ranges::find(held_, id, [](const Held& h) { return h.belief.lease_id; });
  return found == held_.end() ? nullptr : &*found;
}

// --- what it hears ------------------------------------------------------------------------------

void Worker::on_bytes(const std::string& bytes) {
  frames_.feed(std::as_bytes(std::span(bytes)));
  while (lanes_) {
    const auto payload = frames_.next();
    if (!payload || !*payload) break;
    const auto message = decoder_.decode(**payload);
    if (!message) {
      complaint_ = message.error().message + ": " + std::string(**payload);
      return;
    }
    on_message(*message);
  }
}

void Worker::on_message(const ipc::Message& message) {
  if (const auto* event = std::get_if<core::Event>(&message)) return on_event(*event);
  const auto* reply = std::get_if<ipc::Reply>(&message);
  if (reply == nullptr) return;
  const auto* number = std::get_if<std::int64_t>(&reply->id);
  if (number == nullptr) return;
  auto asked = asked_.extract(*number);
  if (asked.empty()) {
    complaint_ = "an answer to what was not asked, or a second one";
    return;
  }
  on_reply(asked.mapped(), reply->outcome);
}

void Worker::on_reply(const core::Call& asked, const core::Outcome<core::Answer>& outcome) {
  if (!outcome) return on_refusal(asked, outcome.error());
  if (const auto* hello = std::get_if<core::HelloAnswer>(&*outcome)) {
    instance_ = hello->owner.instance;
    resume_ = hello->resume;
    greeted_ = true;
    for (const Held& held : held_) renew(held);
    return think();
  }
  if (const auto* grant = std::get_if<core::GrantAnswer>(&*outcome)) return on_grant(asked, *grant);
  if (const auto* done = std::get_if<core::CommittedAnswer>(&*outcome)) {
    know_revision(asked, done->revision);
  }
}

void Worker::know_revision(const core::Call& asked, std::int64_t revision) {
  const auto* commit = std::get_if<core::CommitCall>(&asked);
  if (commit == nullptr || !commit->write) return;
  revisions_[commit->envelope.lock_key + commit->write->content.name] = revision;
}

void Worker::on_grant(const core::Call& asked, const core::GrantAnswer& grant) {
  const base::BootTime now = host_.boot_now();
  const bool over = grant.valid_until <= now ||
                    (grant.replay && grant.replay->current_state != core::LeaseState::active);
  if (Held* held = find(grant.grant.lease_id)) {
    if (over) return;
    held->belief.valid_until = grant.valid_until;
    held->belief.until = host_.true_time(grant.valid_until);
    for (Observer* o : observers_) o->believes(queue_.now(), held->belief);
    return;
  }
  const auto* acquire = std::get_if<core::AcquireCall>(&asked);
  if (acquire == nullptr) return;  // the renewal of what was given back meanwhile
  const bool ours = attempt_ && attempt_->call.request_id.value == acquire->request_id.value;
  if (!ours) return;
  attempt_.reset();
  if (probing_ && !wanted_.empty()) wanted_.pop_back();
  if (over) return;
  ++grants_;
  Held& held = held_.emplace_back();
  held.keep = acquire->on_disconnect == core::OnDisconnect::keep;
  held.manual = acquire->renew == core::RenewMode::manual;
  held.envelope = grant.envelope;
  held.belief = {id_,
                 core::lock_digest(grant.identity),
                 grant.grant.lease_id,
                 grant.grant.token.value,
                 grant.valid_until,
                 host_.true_time(grant.valid_until)};
  for (Observer* o : observers_) o->believes(queue_.now(), held.belief);
}

void Worker::on_refusal(const core::Call& asked, const core::Failure& failure) {
  if (std::holds_alternative<core::HelloCall>(asked)) {
    instance_ = {};
    resume_.clear();
    return close(false);
  }
  const auto forget_lost = [this, &failure](const core::LeaseId& id) {
    if (failure.code != core::FailureCode::lease_lost) return;
    for (std::size_t i = held_.size(); i-- > 0;) {
      if (held_[i].belief.lease_id == id) forget(i);
    }
  };
  if (const auto* renew = std::get_if<core::RenewCall>(&asked)) return forget_lost(renew->lease_id);
  if (failure.revision) return know_revision(asked, *failure.revision);
  const auto* acquire = std::get_if<core::AcquireCall>(&asked);
  if (acquire == nullptr || !attempt_) return;
  if (attempt_->call.request_id.value != acquire->request_id.value) return;
  const bool again = may_be_done(failure.code) &&
                     failure.code != core::FailureCode::lease_conflict &&
                     (probing_ || chance_.happens(habits_.repeats));
  if (again) {
    attempt_->asked = false;
  } else {
    attempt_.reset();
  }
}

void Worker::on_event(const core::Event& event) {
  if (const auto* lost = std::get_if<core::LeaseLost>(&event)) {
    ++losses_;
    // One that does not listen goes on for as long as it was told that it may.
    if (chance_.happens(habits_.deaf)) return;
    for (std::size_t i = held_.size(); i-- > 0;) {
      if (held_[i].belief.lease_id == lost->lease_id) forget(i);
    }
  } else if (const auto* renewed = std::get_if<core::LeaseRenewedNotice>(&event)) {
    Held* held = find(renewed->lease_id);
    if (held == nullptr) return;
    held->belief.valid_until = renewed->valid_until;
    held->belief.until = host_.true_time(renewed->valid_until);
    for (Observer* o : observers_) o->believes(queue_.now(), held->belief);
  }
}

}  // namespace starlease::sim

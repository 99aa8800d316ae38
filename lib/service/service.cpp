// LeaseService; see the header. The order inside turn() is the safety rule: losses are told before
// any answer, any renewal and any new request.
#include "lib/service/service.hpp"

#include "lib/service/audited.hpp"
#include "lib/service/lease_schedule.hpp"
#include "lib/service/ops/acquire.hpp"
#include "lib/service/ops/admin.hpp"
#include "lib/service/ops/commit.hpp"
#include "lib/service/ops/history.hpp"
#include "lib/service/ops/inspect.hpp"
#include "lib/service/ops/invalidate.hpp"
#include "lib/service/ops/list.hpp"
#include "lib/service/ops/release.hpp"
#include "lib/service/ops/renew.hpp"
#include "lib/service/ops/resolve.hpp"

namespace starlease::service {
namespace {

constexpr Milliseconds housekeeping_every{10'000};
/// Workers that were told "draining" get this long to release by themselves.
constexpr Milliseconds drain_notice{500};
/// After this, what could not be released is left to expire.
constexpr Milliseconds drain_limit{3000};

}  // namespace

LeaseService::LeaseService(const Settings& settings, const Seams& seams,
                           const PrincipalTable& principals)
    : settings_(settings),
      seams_(seams),
      principals_(principals),
      kernel_(settings, seams),
      rate_limit_(settings.admission) {
  kernel_.held.when_earliest_changes([this](BootTime due) { arm(due); });
  kernel_.recovery.set_hooks({
      .on_ready = [this](std::uint32_t) { kernel_.store_may_serve(); },
      .on_new_epoch = [this](std::uint32_t p, core::Epoch epoch) { on_new_epoch(p, epoch); },
      .on_state =
          [this](core::BackendState state) {
            kernel_.sessions.for_each([state](Session& session) {
              if (session.notify_backend) session.tell(core::BackendStateChanged{state});
            });
            if (watch_) watch_(state);
          },
  });
}

LeaseService::~LeaseService() = default;

void LeaseService::start() {
  housekeeping();
  seams_.store.start(*this);
  kernel_.sweeper.start();
}

// --- sessions -----------------------------------------------------------------------------------

core::Outcome<LeaseService::Greeting> LeaseService::hello(const base::PeerIdentity& peer,
                                                          const core::HelloCall& call, bool admin,
                                                          EventSink& sink) {
  if (call.protocol != core::protocol_version) {
    return core::invalid("protocol", "This daemon speaks protocol 1");
  }
  const core::Principal* principal = principals_.find(peer);
  if (principal == nullptr) {
    return base::failed(core::failure(core::FailureCode::invalid_credential));
  }
  auto opened = open_session(*principal, call);
  if (!opened) return base::failed(opened.error());
  Session& session = **opened;
  session.sink = &sink;
  session.admin = admin;
  session.notify_renewed = call.notify_renewed;
  session.notify_backend = call.notify_backend;
  session.last_frame = kernel_.now();

  Greeting greeting;
  greeting.session = session.id;
  greeting.answer.server = settings_.server_name;
  greeting.answer.owner = session.owner;
  greeting.answer.resume = kernel_.sessions.resume_token(session.owner);
  const core::LeasePolicy& policy = settings_.policy;
  greeting.answer.limits = {settings_.max_frame_bytes,
                            policy.minimum_ttl,
                            policy.maximum_ttl,
                            policy.default_ttl,
                            policy.maximum_lifetime,
                            policy.maximum_wait,
                            static_cast<std::int64_t>(settings_.admission.max_leases_per_session)};
  greeting.answer.backend = backend();
  return greeting;
}

core::Outcome<Session*> LeaseService::open_session(const core::Principal& principal,
                                                   const core::HelloCall& call) {
  core::Owner owner{principal.id, principal.client, principal.credential, call.instance};
  if (call.instance.empty() != call.resume.empty()) {
    return core::invalid(call.instance.empty() ? "service_instance_id" : "resume",
                         "Send service_instance_id and resume together, or neither");
  }
  if (call.instance.empty()) {
    owner.instance = kernel_.ids.instance();
  } else if (!kernel_.sessions.resume_token_fits(owner, call.resume)) {
    return core::invalid("resume",
                         "This resume token does not belong to that instance; "
                         "send hello without service_instance_id and resume");
  }
  if (Session* existing = kernel_.sessions.find(owner.instance)) {
    if (existing->online()) std::exchange(existing->sink, nullptr)->superseded();
    farewell_answered(*existing);
    return existing;
  }
  Session* session = kernel_.sessions.open(owner, principal);
  if (session == nullptr) {
    return base::failed(core::failure(core::FailureCode::lease_rate_limited, default_retry_after));
  }
  return session;
}

void LeaseService::greeted(SessionId id) {
  Session* session = kernel_.sessions.find(id);
  if (session == nullptr || !session->online()) return;
  for (const core::Event& event : std::exchange(session->missed, {})) session->tell(event);
  resumed(*session);
}

void LeaseService::resumed(Session& session) {
  const BootTime now = kernel_.now();
  for (HeldLease* lease = session.leases; lease != nullptr; lease = lease->next) {
    if (lease->automatic && !lease->renewing) kernel_.renewer.hurry(*lease, now);
  }
  if (session.lease_count > 0) session.sink->watch_peer();
}

void LeaseService::heard(SessionId id) {
  if (Session* session = kernel_.sessions.find(id)) session->last_frame = kernel_.now();
}

void LeaseService::disconnected(SessionId id, const EventSink& sink, Departure departure) {
  Session* session = kernel_.sessions.find(id);
  if (session == nullptr || session->sink != &sink) return;  // taken over by another connection
  session->sink = nullptr;
  session->offline_since = kernel_.now();
  kernel_.session_gone(*session);
  if (departure == Departure::left) release_lost(*session);
  farewell_answered(*session);
  for (HeldLease* lease = session->leases; lease != nullptr;) {
    HeldLease* next = lease->next;
    let_go(*session, *lease, departure);
    lease = next;
  }
  kernel_.drop_if_done(*session);
}

/// The worker relies on none of these, and knows: what the store may still hold is given back.
void LeaseService::release_lost(Session& session) {
  for (auto& [lease_id, loss] : session.lost) {
    if (!std::exchange(loss.may_be_released, false) || loss.until <= kernel_.now()) continue;
    const auto digest = core::lock_of(lease_id);
    SL_ASSERT(digest);
    kernel_.releaser.release({*digest, lease_id, loss.token, session.owner},
                             session.principal->principal_class, loss.until);
  }
}

void LeaseService::let_go(Session& session, HeldLease& lease, Departure departure) {
  if (lease.keep_on_disconnect || departure == Departure::cut_off) {
    // Left to expire unless the session comes back.
    lease.renew_due = BootTime::max();
    kernel_.renewer.reschedule(lease);
    return;
  }
  kernel_.releaser.release({lease.digest, lease.lease_id(), lease.token, session.owner},
                           session.principal->principal_class,
                           lease.valid_until + lease.ttl() / 10);
  kernel_.held.remove(lease);
}

// --- requests -----------------------------------------------------------------------------------

void LeaseService::submit(SessionId id, core::Call call, ReplyDone done) {
  Session* session = kernel_.sessions.find(id);
  SL_ASSERT(session != nullptr);
  const CallContext context{id, kernel_.now(), kernel_.ids.correlation(), kernel_.ids.decision()};
  AnswerDone answer = audited(seams_, *session, context, call, std::move(done));
  const bool is_free = std::holds_alternative<core::PingCall>(call) ||
                       std::holds_alternative<core::GoodbyeCall>(call);
  if (!is_free) {
    if (const auto wait = rate_limit_.refuse(session->owner.principal, context.received_at)) {
      return answer(base::failed(core::failure(core::FailureCode::lease_rate_limited, *wait)));
    }
  }
  dispatch(*session, context, call, std::move(answer));
}

void LeaseService::dispatch(Session& session, const CallContext& context, core::Call& call,
                            AnswerDone done) {
  struct Route {
    LeaseService& service;
    Session& session;
    const CallContext& context;
    AnswerDone& done;
    Kernel& kernel() const { return service.kernel_; }

    void operator()(core::HelloCall&) const {
      done(core::invalid("op", "This connection has said hello already"));
    }
    void operator()(core::AcquireCall& c) const {
      acquire(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::RenewCall& c) const {
      renew(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::ReleaseCall& c) const {
      release(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::InspectCall& c) const {
      inspect(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::ResolveCall& c) const {
      resolve(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::PingCall&) const {
      done(core::PongAnswer{service.backend(), kernel().now()});
    }
    void operator()(core::GoodbyeCall&) const { done(core::GoodbyeAnswer{}); }
    void operator()(core::NamespaceCall& c) const {
      namespace_operation(kernel(), session, context, c, std::move(done));
    }
    void operator()(core::StatsCall&) const { stats(kernel(), session, std::move(done)); }
    void operator()(core::CommitCall& c) const {
      commit(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::InvalidateCall& c) const {
      invalidate(kernel(), session, context, std::move(c), std::move(done));
    }
    void operator()(core::DocumentCall& c) const {
      read_document(kernel(), session, context, c, std::move(done));
    }
    void operator()(core::ListCall& c) const {
      list(kernel(), session, context, c, std::move(done));
    }
    void operator()(core::HistoryCall& c) const {
      history(kernel(), session, context, c, std::move(done));
    }
  };
  std::visit(Route{*this, session, context, done}, call);
}

// --- time ---------------------------------------------------------------------------------------

void LeaseService::turn(BootTime now) {
  if (acting_) return;
  kernel_.sweep_finished();
  if (kernel_.held.earliest() > now) return;
  acting_ = true;
  // All losses first: nothing else is told of any lease while one of them is not.
  std::vector<HeldLease*> others;
  while (HeldLease* lease = kernel_.held.due_by(now)) {
    if (lose_if_due(*lease, now)) continue;
    kernel_.held.schedule(*lease, BootTime::max());
    others.push_back(lease);
  }
  for (HeldLease* lease : others) act(*lease, now);
  kernel_.renewer.flush();
  acting_ = false;
  arm(kernel_.held.earliest());
}

bool LeaseService::lose_if_due(HeldLease& lease, BootTime now) {
  Session& session = *lease.session;
  if (loss_due(settings_.policy, lease) <= now) {
    kernel_.loss.lose(lease, kernel_.loss.reason_when_due(lease), std::nullopt);
  } else if (heartbeat_due(lease) <= now) {
    kernel_.loss.lose(lease, core::LossReason::heartbeat_missed, std::nullopt);
  } else {
    return false;
  }
  kernel_.drop_if_done(session);
  return true;
}

void LeaseService::act(HeldLease& lease, BootTime now) {
  if (expiring_due(lease) <= now) {
    lease.expiring_told = true;
    lease.session->tell(core::LeaseExpiring{lease.lease_id(), lease.token,
                                            base::floor_ms(lease.lifetime_end - now)});
  }
  if (!lease.renewing && lease.renew_due <= now) return kernel_.renewer.collect(lease);
  kernel_.renewer.reschedule(lease);
}

void LeaseService::arm(BootTime due) {
  if (acting_) return;
  timer_.reset();
  if (due == BootTime::max()) return;
  timer_ = seams_.timers.at(due, [this] { turn(kernel_.now()); });
}

void LeaseService::housekeeping() {
  const BootTime now = kernel_.now();
  const Milliseconds keep = settings_.policy.maximum_lifetime;
  std::vector<SessionId> stale;
  kernel_.sessions.for_each([&](Session& session) {
    const bool idle = !session.online() && session.lease_count == 0;
    const bool long_gone = idle && now - session.offline_since > keep;
    if (long_gone || session.done(now)) stale.push_back(session.id);
  });
  for (const SessionId id : stale) kernel_.sessions.erase(id);
  housekeeping_ = seams_.timers.at(now + housekeeping_every, [this] { housekeeping(); });
}

// --- the store ----------------------------------------------------------------------------------

void LeaseService::on_link(bool up) {
  kernel_.recovery.on_link(up);
  if (up) kernel_.releaser.on_link_up();
}

void LeaseService::on_notice(const store::Notice& notice) {
  if (notice.kind == store::NoticeKind::recovered) {
    kernel_.recovery.on_recovered_notice(notice.partition);
  } else {
    // A notice is a hint: the store is asked before anything is believed.
    HeldLease* lease = kernel_.held.find(notice.digest);
    const bool ours = lease != nullptr && !lease->releasing &&
                      lease->texts.at(PackedTexts::lease_id) == notice.lease_id.value;
    if (ours && lease->renewing) {
      lease->check_again = true;
    } else if (ours) {
      kernel_.renewer.collect(*lease);
      kernel_.renewer.flush();
    }
    kernel_.waiters.lock_may_be_free(notice.digest);
  }
}

void LeaseService::on_new_epoch(std::uint32_t partition, core::Epoch epoch) {
  kernel_.held.for_each([&](HeldLease& lease) {
    if (kernel_.partition(lease.digest) != partition || lease.epoch == epoch) return;
    Session& session = *lease.session;
    kernel_.loss.lose(lease, core::LossReason::recovered, core::LeaseState::revoked);
    kernel_.drop_if_done(session);
  });
}

// --- shutdown -----------------------------------------------------------------------------------

void LeaseService::drain(std::move_only_function<void()> drained) {
  kernel_.draining = true;
  drained_ = std::move(drained);
  kernel_.sessions.for_each([](Session& session) { session.tell(core::Draining{false}); });
  const Milliseconds notice = kernel_.held.size() == 0 ? Milliseconds(0) : drain_notice;
  drain_timer_ = seams_.timers.at(kernel_.now() + notice, [this] { finish_drain(); });
}

void LeaseService::farewell_answered(Session& session) {
  if (!std::exchange(session.bidden_farewell, false)) return;
  --farewells_;
  end_drain_when_idle();
}

void LeaseService::end_drain_when_idle() {
  if (farewells_ > 0) return;
  kernel_.releaser.when_idle([this] {
    if (drained_) std::exchange(drained_, nullptr)();
  });
}

/// Each holder is told that it may rely on its lease no more. The lease is given away when its
/// worker has shown that it knows; one that may not have read it keeps others out until it expires.
void LeaseService::finish_drain() {
  kernel_.held.for_each([this](HeldLease& lease) {
    Session& session = *lease.session;
    const bool tell_all = session.online() && !session.bidden_farewell;
    lease.valid_until = kernel_.now();
    kernel_.loss.lose(lease, core::LossReason::shutdown, std::nullopt);
    if (tell_all) {
      session.bidden_farewell = true;
      ++farewells_;
    }
  });
  kernel_.recovery.save();
  drain_timer_ = seams_.timers.at(kernel_.now() + drain_limit, [this] {
    if (drained_) std::exchange(drained_, nullptr)();
  });
  kernel_.sessions.for_each([](Session& session) {
    if (session.bidden_farewell) session.sink->farewell();
  });
  end_drain_when_idle();
}

}  // namespace starlease::service

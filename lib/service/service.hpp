// LeaseService: the only door to leases for every transport. It decides who asks, whether he may,
// whether it is valid and whether there is room, and then hands over to one operation per file.
//
// Single-threaded, loop-free: it is driven by calls, by its timers and by turn(), which whoever
// owns the loop calls before anything else whenever it wakes.
#pragma once

#include <functional>

#include "lib/service/authenticate.hpp"
#include "lib/service/kernel.hpp"
#include "lib/service/rate_limit.hpp"

namespace starlease::service {

class LeaseService final : private store::StoreListener {
 public:
  /// All must outlive the service.
  LeaseService(const Settings& settings, const Seams& seams, const PrincipalTable& principals);
  ~LeaseService() override;

  /// Starts the store.
  void start();

  struct Greeting {
    SessionId session{};
    core::HelloAnswer answer;
  };
  /// Opens or resumes a session for a connection. invalid_credential for nobody;
  /// invalid_lease_request for a version that is not spoken or a resume that does not fit. `sink`
  /// gets the events until disconnected().
  [[nodiscard]] core::Outcome<Greeting> hello(const base::PeerIdentity& peer,
                                              const core::HelloCall& call, bool admin,
                                              EventSink& sink);
  /// Tells events that waited for the session; call after the hello's answer has been written.
  void greeted(SessionId session);

  /// One request of a session; `done` is called exactly once, perhaps from inside this call.
  /// REQUIRES: the session is open.
  void submit(SessionId session, core::Call call, ReplyDone done);
  /// A frame came: the worker is alive.
  void heard(SessionId session);
  /// The session's connection is gone (or said goodbye): its leases follow their on_disconnect, but
  /// those of a worker that was cut off are left to expire.
  void disconnected(SessionId session, const EventSink& sink, Departure departure);

  /// Declares lost what is due, then renews what is due. Called first at every wake-up; cheap when
  /// nothing is due.
  void turn(BootTime now);

  /// No new acquisitions; workers are told, leases released as soon as their workers have closed in
  /// answer; then `drained`, after a bounded time. What a stalled worker held is left to expire.
  void drain(std::move_only_function<void()> drained);

  [[nodiscard]] core::BackendState backend() const { return kernel_.recovery.state(); }
  /// Called at every change of backend(), after the sessions were told. Set before start().
  void watch_backend(std::function<void(core::BackendState)> watch) { watch_ = std::move(watch); }
  [[nodiscard]] core::CorrelationId correlation() { return kernel_.ids.correlation(); }

 private:
  void on_link(bool up) override;
  void on_notice(const store::Notice& notice) override;

  core::Outcome<Session*> open_session(const core::Principal& principal,
                                       const core::HelloCall& call);
  void resumed(Session& session);
  void dispatch(Session& session, const CallContext& context, core::Call& call, AnswerDone done);
  bool lose_if_due(HeldLease& lease, BootTime now);
  void act(HeldLease& lease, BootTime now);
  void arm(BootTime due);
  void on_new_epoch(std::uint32_t partition, core::Epoch epoch);
  void let_go(Session& session, HeldLease& lease, Departure departure);
  void housekeeping();
  void release_lost(Session& session);
  void farewell_answered(Session& session);
  void end_drain_when_idle();
  void finish_drain();

  const Settings& settings_;
  const Seams& seams_;
  const PrincipalTable& principals_;
  Kernel kernel_;
  RateLimit rate_limit_;
  std::function<void(core::BackendState)> watch_;
  base::Timer timer_;
  base::Timer housekeeping_;
  base::Timer drain_timer_;
  std::move_only_function<void()> drained_;
  std::size_t farewells_ = 0;  // sessions whose worker has not closed in answer yet
  bool acting_ = false;
};

}  // namespace starlease::service

// The client's inside: one session over connections that may break, the calls that wait, the leases
// that are held. Single-threaded; all that happens, happens inside advance() or a call made on it.
//
// Glossary: *down*, *greeting*, *ready* are the states of the link. A lease is *attached* while the
// daemon is known to hold it for this session. User callbacks are queued as *news* and run last,
// when everything is consistent, so that they may call back in.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include <starlease/client.hpp>

#include "lib/base/system_random.hpp"
#include "lib/client/connection.hpp"
#include "lib/client/pending_calls.hpp"
#include "lib/client/wakeup.hpp"
#include "lib/core/id_factory.hpp"
#include "proto-ipc/reply_decoder.hpp"

namespace starlease::client {

/// The clocks of the process, for what needs base::Clock.
class ProcessClock final : public base::Clock {
 public:
  [[nodiscard]] BootTime boot_now() const override { return client::boot_now(); }
  [[nodiscard]] base::WallTime wall_now() const override;
};

class Engine {
 public:
  /// Connects and greets. Errors: as Client::connect.
  static Result<std::unique_ptr<Engine>> open(const ClientOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// The leases that remain are lost, without a callback.
  ~Engine();

  [[nodiscard]] const SessionInfo& session() const { return session_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool ready() const { return link_ == Link::ready; }
  [[nodiscard]] int fd() const { return wakeup_.fd(); }
  void on_event(Client::OnEvent callback);
  [[nodiscard]] core::RequestId new_request_id() { return ids_.request(); }

  /// Asks; `on_answer` is called once, from advance(), unless the engine is destroyed before. The
  /// deadline in `call` is set here.
  void submit(core::Call call, Milliseconds timeout, OnAnswer on_answer,
              Retry retry = Retry::outcome_unknown);
  /// The same, waiting for the answer.
  Result<Answered> call(core::Call call, Milliseconds timeout);
  /// Has `news` run by the next process(), as an answer would be.
  void post(std::move_only_function<void()> news);
  /// Does what is due and runs the callbacks.
  Result<void> process();
  /// Waits for something to do, at most for `timeout`, and does it.
  Result<void> wait(Milliseconds timeout);

  /// Sends the release of a lease that its owner has dropped; forgets it.
  void release(HeldLease& lease);
  void forget(HeldLease& lease) { leases_.remove(lease); }
  /// A callback was set on a lease that is lost already.
  void tell_loss(const HeldLease& lease);
  [[nodiscard]] HeldLease* find(std::uint64_t serial) { return leases_.find(serial); }
  /// Ends the link for good: everything that waits ends with `error`, what is held is lost.
  void finish(const Error& error, LossReason reason = LossReason::connection_lost);

 private:
  enum class Link : std::uint8_t { down, greeting, ready };
  using Number = PendingCalls::Number;

  Engine(const ClientOptions& options, std::string path, SocketAddress address, Wakeup wakeup);

  // --- engine.cpp
  void advance();
  void run_news();
  void on_time(BootTime now);
  void arm();
  [[nodiscard]] std::optional<Error> refuse(const core::Call& call) const;
  void send(Number number);
  void complete(Number number, Result<Answered> result);
  [[nodiscard]] Error deadline_error(const PendingCall& call) const;
  void abandon(Number number, const PendingCall& call);

  // --- engine_link.cpp
  Result<void> greet_first(BootTime deadline);
  void connect();
  void say_hello();
  void on_hello(Result<core::Answer> answer);
  void on_session(const core::HelloAnswer& answer);
  void on_hello_refused(Error error);
  void disconnected();
  void reattach(HeldLease& lease);
  void reconnect_later(BootTime now);

  // --- engine_answers.cpp
  void receive();
  void on_payload(const std::string& payload);
  void on_reply(Number number, Result<core::Answer> answer);
  void on_late_reply(Number number, const Result<core::Answer>& answer);
  Result<Answered> granted(const core::AcquireCall& call, core::GrantAnswer answer);
  void renewed(const core::GrantAnswer& answer);
  void release_unused(const core::GrantAnswer& answer);
  void on_daemon_event(const core::Event& event);
  void on_protocol_error(const std::string& message);
  void on_renewed_notice(const core::LeaseRenewedNotice& notice);
  void lose(HeldLease& lease, LossReason reason, std::optional<LeaseState> state);
  void tell(Event event);

  ClientOptions options_;
  std::string path_;
  SocketAddress address_;
  base::SystemRandom random_;
  ProcessClock clock_;
  core::IdFactory ids_;
  Wakeup wakeup_;
  Connection connection_;
  ipc::ReplyDecoder decoder_;
  Link link_ = Link::down;
  /// True until the first greeting has been answered: nothing is retried then.
  bool opening_ = true;
  SessionInfo session_;
  BootTime hello_deadline_;
  BootTime connect_at_;
  Milliseconds connect_pause_{0};
  PendingCalls calls_;
  LeaseTable leases_;
  /// Acquisitions that were given up while the daemon may still grant them.
  std::unordered_map<Number, core::RequestId> abandoned_;
  std::deque<std::move_only_function<void()>> news_;
  Client::OnEvent on_event_;
  /// What came before anybody listened.
  std::vector<Event> unheard_;
  /// Why the client is of no more use.
  std::optional<Error> fatal_;
};

}  // namespace starlease::client

// A standing link to the server: connects, greets, keeps watch, connects again. Calls have
// deadlines of their own that never touch a neighbour; the connection is given up only when nothing
// at all has been answered for `dead_after`. One timer serves all of a link's waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/valkey/backoff.hpp"
#include "daemon/valkey/endpoint.hpp"
#include "daemon/valkey/lifeline.hpp"
#include "daemon/valkey/pending_calls.hpp"
#include "daemon/valkey/resolver.hpp"
#include "daemon/valkey/wire.hpp"
#include "lib/base/log.hpp"
#include "lib/base/timers.hpp"

namespace starlease::valkey {

/// What a link needs of the world; all of it outlives the link.
struct LinkSeams {
  uv::Loop& loop;
  const base::Clock& clock;
  base::Timers& timers;
  base::Random& random;
  base::Log& log;
};

class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  /// The server has answered the greeting: calls can be made. `hello` is valid during the call.
  virtual void on_link_up(const redisReply& hello) = 0;
  /// The link is gone; every call has been answered before. Follows each on_link_up().
  virtual void on_link_down(const Fault& why) = 0;
  /// An attempt came to nothing; another follows by itself.
  virtual void on_attempt_failed(const Fault& why) = 0;
  virtual void on_push(const redisReply& push) = 0;
};

class Link final : private WireListener {
 public:
  /// `name` is what the server's CLIENT LIST shows. `endpoint` and `owner` outlive the link.
  Link(const LinkSeams& seams, const Endpoint& endpoint, std::string name, LinkOwner& owner);
  /// Callers that still wait are not answered.
  ~Link() override;

  /// Begins connecting. REQUIRES: called once.
  void start();
  [[nodiscard]] bool up() const { return state_ == State::up; }
  /// Makes a call; `done` comes on a later turn. `command` is finished (Command::finish()).
  void call(const std::string& command, BootTime deadline, Answered done);
  /// Answers as not_sent, on a later turn.
  void decline(Answered done) { defer(std::move(done), CallEnd::not_sent); }
  /// Sends a SUBSCRIBE; messages come by on_push(). False if the link is not up.
  [[nodiscard]] bool subscribe(const std::string& command);

  /// Gives the connection up now and connects anew, after the usual wait.
  void drop(const Fault& why);
  /// Takes no more calls, lets those under way be answered (for at most `dead_after`), then drops.
  void retire(const Fault& why);

  /// Callers that wait.
  [[nodiscard]] std::size_t pending() const { return pending_.waiting() + unsent_.size(); }
  /// How long until a new attempt has a chance.
  [[nodiscard]] Milliseconds retry_after() const;

 private:
  enum class State : std::uint8_t { idle, resolving, connecting, up, retiring, waiting };
  struct Unsent {
    Answered done;
    CallEnd end;
  };

  // The course of a connection.
  void attempt();
  void connect_next();
  void attempt_failed(const Fault& why);
  void greet();
  void on_hello(const CallAnswer& answer);
  void on_connected() override;
  void on_reply(std::uint64_t id, const redisReply& reply) override;
  void on_push(const redisReply& push) override;
  void on_closed(const Fault& why) override;
  void log_failure(const Fault& why);

  // Waiting.
  void defer(Answered done, CallEnd end);
  void arm();
  [[nodiscard]] BootTime next_due();
  void on_timer();
  void judge_silence(BootTime now);
  void answer_deferred();
  bool answer_expired(BootTime now);

  LinkSeams seams_;
  const Endpoint& endpoint_;
  std::string name_;
  LinkOwner& owner_;

  State state_ = State::idle;
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<Wire> wire_;
  Resolver resolver_;
  std::vector<std::string> addresses_;
  std::size_t next_address_ = 0;
  bool connected_ = false;
  Backoff backoff_;

  PendingCalls pending_;
  /// Calls that were not sent; their callers are told on the next turn.
  std::vector<Unsent> unsent_;
  uv::Deferred answer_soon_;

  /// Of the attempt, of the wait, or of retiring: what the state waits for.
  BootTime state_until_;
  BootTime up_since_;
  BootTime last_reply_at_;
  /// After a stall of our own, replies may lie unread: no verdict before this.
  BootTime no_verdict_before_;
  base::Timer timer_;
  BootTime armed_for_ = BootTime::max();

  Fault retiring_for_;
  std::string last_failure_;
  BootTime failure_logged_at_;
  Lifeline life_;
};

}  // namespace starlease::valkey

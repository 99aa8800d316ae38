// The calls that were handed over on one connection, in order, and their deadlines. The server
// answers in order, so a reply belongs to the oldest entry; a call whose deadline has passed is
// answered to its caller but keeps its place until its reply comes. Pure bookkeeping: no clock, no
// socket.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "lib/base/clock.hpp"

struct redisReply;

namespace starlease::valkey {

using base::BootTime;

/// How a call ended, and with it what is known about its effect.
enum class CallEnd : std::uint8_t {
  answered,        ///< `reply` holds what the server said
  not_sent,        ///< nothing was written: link down, or too many calls outstanding
  expired_unsent,  ///< the deadline had passed before anything was written
  expired_sent,    ///< written, and no answer by the deadline
  broken,          ///< written, and the connection ended without an answer
};

struct CallAnswer {
  CallEnd end{};
  /// Just before the command was handed over; meaningless where nothing was sent.
  BootTime sent_at;
  /// When the reply was read; meaningless without one.
  BootTime received_at;
  /// Valid during the call of Answered only; null unless answered.
  const redisReply* reply = nullptr;
};
/// Called exactly once, unless the link is destroyed first.
using Answered = std::move_only_function<void(const CallAnswer&)>;

struct PendingCall {
  std::uint64_t id = 0;
  BootTime sent_at;
  /// Empty once the caller has been answered.
  Answered done;
};

class PendingCalls {
 public:
  /// Adds the newest call and returns its id; ids rise by one.
  std::uint64_t add(BootTime sent_at, BootTime deadline, Answered done);
  /// Takes back the call that was added last: it was not sent after all. REQUIRES: there is one.
  [[nodiscard]] Answered take_back();
  /// The oldest call, if it is the one that `id` names: its reply has come.
  [[nodiscard]] std::optional<PendingCall> take(std::uint64_t id);
  /// Takes the callers of all calls whose deadline is at or before `now`, soonest first.
  [[nodiscard]] std::vector<PendingCall> take_expired(BootTime now);
  /// Takes every caller that still waits, in order, and forgets all calls.
  [[nodiscard]] std::vector<PendingCall> take_all();

  /// The earliest deadline of a caller that still waits.
  [[nodiscard]] std::optional<BootTime> next_deadline();
  /// Calls without a reply, those included whose caller waits no more.
  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  /// Calls whose caller still waits.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  /// When the oldest call without a reply was handed over. REQUIRES: not empty.
  [[nodiscard]] BootTime oldest_sent_at() const { return calls_.front().sent_at; }

 private:
  struct Deadline {
    BootTime at;
    std::uint64_t id;
  };
  [[nodiscard]] PendingCall* find_waiting(std::uint64_t id);
  void drop_dead_deadlines();
  void compact();

  std::deque<PendingCall> calls_;
  std::uint64_t next_id_ = 1;
  std::size_t waiting_ = 0;
  /// A heap, soonest first. Calls that were answered leave theirs behind until it is met or
  /// compacted.
  std::vector<Deadline> deadlines_;
};

}  // namespace starlease::valkey

// The calls that wait for an answer: when each is due to be sent again or given up. No I/O here.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include <starlease/error.hpp>

#include "lib/client/due_set.hpp"
#include "lib/client/held_lease.hpp"
#include "lib/core/calls.hpp"

namespace starlease::client {

/// The daemon's answer; `held` where it granted a new lease to this client.
struct Answered {
  core::Answer answer;
  std::unique_ptr<HeldLease> held;
};

using OnAnswer = std::move_only_function<void(Result<Answered>)>;

/// Which refusals are answered by sending the same call again until the deadline.
enum class Retry : std::uint8_t {
  /// Only where the outcome is unknown: the same request id finds it out.
  outcome_unknown,
  /// Whatever may succeed later: for what the client does by itself.
  all_retryable,
};

struct PendingCall {
  core::Call call;
  BootTime deadline;
  Retry retry = Retry::outcome_unknown;
  OnAnswer on_answer;
  /// True while an answer on the present connection is awaited.
  bool sent = false;
  /// True once it has been sent on any connection.
  bool ever_sent = false;
  /// When to send it again; meaningless while `sent`.
  std::optional<BootTime> resend_at;
  /// Length of the next pause before it is sent again.
  Milliseconds pause{20};
};

/// The request id of a mutating call, or null.
[[nodiscard]] const core::RequestId* request_id_of(const core::Call& call);

class PendingCalls {
 public:
  using Number = DueSet::Number;
  /// So many outstanding calls are a caller's mistake.
  static constexpr std::size_t capacity = 100'000;

  /// REQUIRES: not full().
  Number add(PendingCall call);
  [[nodiscard]] bool full() const { return calls_.size() >= capacity; }
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  [[nodiscard]] PendingCall* find(Number number);
  /// Takes it out. REQUIRES: it is there.
  PendingCall take(Number number);

  /// It has been sent on the present connection.
  void sent(Number number);
  /// It is to be sent again after a pause that doubles each time, or after `at_least`.
  void resend_later(Number number, BootTime now, std::optional<Milliseconds> at_least);
  /// The connection closed: everything that was sent is to be sent again on the next.
  void connection_closed();

  [[nodiscard]] std::optional<BootTime> earliest_deadline() const { return deadlines_.earliest(); }
  [[nodiscard]] std::optional<BootTime> earliest_resend() const { return resends_.earliest(); }
  /// Those whose deadline has passed; still in the table.
  [[nodiscard]] std::vector<Number> past_deadline(BootTime now);
  /// Those that are due to be sent: paused ones whose pause is over.
  [[nodiscard]] std::vector<Number> due_resends(BootTime now);
  /// All that are not sent and not pausing, oldest first.
  [[nodiscard]] std::vector<Number> unsent() const;
  [[nodiscard]] std::vector<Number> all() const;

 private:
  Number last_ = 0;
  std::unordered_map<Number, PendingCall> calls_;
  DueSet deadlines_;
  DueSet resends_;
};

}  // namespace starlease::client

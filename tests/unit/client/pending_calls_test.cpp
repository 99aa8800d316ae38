// The table of calls that wait: deadlines, pauses, connections that close.
#include "lib/client/pending_calls.hpp"

#include <doctest/doctest.h>

namespace starlease::testing {
namespace {

using client::BootTime;
using client::Milliseconds;
using client::PendingCall;
using client::PendingCalls;

BootTime at_ms(std::int64_t ms) { return BootTime(Milliseconds(ms)); }

PendingCalls::Number add(PendingCalls& calls, std::int64_t deadline_ms) {
  PendingCall call;
  call.deadline = at_ms(deadline_ms);
  return calls.add(std::move(call));
}

}  // namespace

TEST_CASE("calls are due at their deadlines, earliest first") {
  PendingCalls calls;
  const auto late = add(calls, 200);
  const auto early = add(calls, 100);
  CHECK(*calls.earliest_deadline() == at_ms(100));
  CHECK(calls.past_deadline(at_ms(99)).empty());
  CHECK(calls.past_deadline(at_ms(200)) == std::vector{early, late});
  (void)calls.take(early);
  (void)calls.take(late);
  CHECK(calls.empty());
}

TEST_CASE("a pause doubles up to its bound, and honours what the daemon asks for") {
  PendingCalls calls;
  const auto number = add(calls, 100'000);
  BootTime now = at_ms(0);
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 7; ++i) {
    calls.sent(number);
    calls.resend_later(number, now, std::nullopt);
    pauses.push_back(base::floor_ms(*calls.earliest_resend() - now).count());
    now = *calls.earliest_resend();
    CHECK(calls.due_resends(now - Milliseconds(1)).empty());
    CHECK(calls.due_resends(now) == std::vector{number});
  }
  CHECK(pauses == std::vector<std::int64_t>{20, 40, 80, 160, 320, 500, 500});
  calls.sent(number);
  calls.resend_later(number, now, Milliseconds(900));
  CHECK(*calls.earliest_resend() == now + Milliseconds(900));
}

TEST_CASE("a closed connection makes what was sent unsent, but not what pauses") {
  PendingCalls calls;
  const auto sent = add(calls, 100);
  const auto pausing = add(calls, 100);
  const auto fresh = add(calls, 100);
  calls.sent(sent);
  calls.sent(pausing);
  calls.resend_later(pausing, at_ms(0), std::nullopt);
  CHECK(calls.unsent() == std::vector{fresh});
  calls.connection_closed();
  CHECK(calls.unsent() == std::vector{sent, fresh});
  CHECK(calls.find(sent)->ever_sent);
  CHECK(!calls.find(fresh)->ever_sent);
}

TEST_CASE("only mutating calls have a request id") {
  core::RenewCall renew;
  renew.request_id = core::RequestId("r");
  const core::Call mutating = renew;
  CHECK(client::request_id_of(mutating)->value == "r");
  const core::Call reading = core::ResolveCall{};
  CHECK(client::request_id_of(reading) == nullptr);
}

}  // namespace starlease::testing

// The contract's table of transitions, cell by cell.
#include "lib/core/state.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace starlease::core {
namespace {

constexpr std::array states = {LeaseState::active, LeaseState::expired, LeaseState::released,
                               LeaseState::revoked};
constexpr std::array events = {LeaseEventKind::renew,  LeaseEventKind::release,
                               LeaseEventKind::expire, LeaseEventKind::force_release,
                               LeaseEventKind::revoke, LeaseEventKind::recover};

TEST_CASE("from active each event leads where the contract says") {
  const std::vector<LeaseState> ends = {LeaseState::active,  LeaseState::released,
                                        LeaseState::expired, LeaseState::released,
                                        LeaseState::revoked, LeaseState::revoked};
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(next_state(LeaseState::active, events[i]) == ends[i]);
  }
}

TEST_CASE("nothing leads out of a terminal state") {
  for (const LeaseState state : states) {
    for (const LeaseEventKind event : events) {
      if (state != LeaseState::active) CHECK(!next_state(state, event));
    }
  }
}

TEST_CASE("names are read back, and only they") {
  for (const LeaseState state : states) CHECK(parse_lease_state(name(state)) == state);
  for (const char* bad : {"", "Active", "active ", "lost"}) CHECK(!parse_lease_state(bad));
}

}  // namespace
}  // namespace starlease::core

// Lists and histories as a worker asks for them: order over partitions, pages, cursors, scope.
#include <algorithm>
#include <functional>
#include <set>

#include "lib/base/base64url.hpp"
#include "lib/core/limits.hpp"
#include "tests/unit/service/world.hpp"

namespace starlease::testing {
namespace {

core::ListCall by_program(std::optional<std::int64_t> size = {},
                          std::optional<std::string> cursor = {}) {
  core::ListCall call;
  call.by = core::ListBy::program;
  call.target.components[0] = "tenant";
  call.target.components[1] = "program";
  call.page = {size, std::move(cursor)};
  return call;
}

core::ListCall by_owner(std::optional<std::int64_t> size = {},
                        std::optional<std::string> cursor = {}) {
  core::ListCall call;
  call.page = {size, std::move(cursor)};
  return call;
}

core::HistoryCall history_of(const char* target, std::optional<std::int64_t> size = {},
                             std::optional<std::string> cursor = {}) {
  return {identity(target), {size, std::move(cursor)}};
}

core::ListedAnswer listed(const core::Outcome<core::Answer>& outcome) {
  REQUIRE(outcome);
  return std::get<core::ListedAnswer>(*outcome);
}

core::HistoryAnswer told(const core::Outcome<core::Answer>& outcome) {
  REQUIRE(outcome);
  return std::get<core::HistoryAnswer>(*outcome);
}

void acquire_many(World& world, Worker& worker, int count) {
  for (int i = 0; i < count; ++i) {
    static_cast<void>(world.acquire(worker, ("target-" + std::to_string(i)).c_str()));
  }
}

std::string target_of(const core::InspectedAnswer& lease) {
  return lease.identity.at(core::Component::target_id);
}

}  // namespace

TEST_CASE("list: every lease once, in one order over all partitions, in pages of any size") {
  for (const std::uint32_t partitions : {1U, 3U, 16U}) {
    CAPTURE(partitions);
    World world(short_settings(), partitions);
    Worker& worker = world.worker();
    acquire_many(world, worker, 40);
    for (const auto by : {core::ListBy::owner, core::ListBy::program}) {
      for (const std::int64_t size : {1, 7, 40, 100}) {
        std::vector<std::string> positions;
        std::set<std::string> targets;
        std::optional<std::string> cursor;
        do {
          const auto page =
              listed(world.now(worker, by == core::ListBy::owner ? by_owner(size, cursor)
                                                                 : by_program(size, cursor)));
          CHECK(page.leases.size() <= static_cast<std::size_t>(size));
          for (const core::InspectedAnswer& lease : page.leases) {
            positions.push_back(
                core::list_position(by, lease.identity, core::lock_digest(lease.identity)));
            targets.insert(target_of(lease));
          }
          cursor.reset();
          if (!page.next_cursor.empty()) cursor = page.next_cursor;
        } while (cursor);
        CHECK(positions.size() == 40);
        CHECK(targets.size() == 40);
        CHECK(std::ranges::is_sorted(positions));
      }
    }
  }
}

TEST_CASE("list: by target only that target's, and only while they are active") {
  World world;
  Worker& worker = world.worker();
  acquire_many(world, worker, 3);
  core::ListCall call = by_program();
  call.by = core::ListBy::target;
  call.target.components[2] = " NS ";
  call.target.components[3] = "Target-1";
  auto page = listed(world.now(worker, call));
  REQUIRE(page.leases.size() == 1);
  CHECK(target_of(page.leases[0]) == "target-1");
  CHECK(page.leases[0].state == core::LeaseState::active);
  CHECK(page.next_cursor.empty());
  const auto lease = world.acquire(worker, "target-9");
  REQUIRE(world.now(worker, world.release_call(lease)));
  CHECK(listed(world.now(worker, by_program())).leases.size() == 3);
}

TEST_CASE("list: what a page may be, and what a filter must be") {
  World world;
  Worker& worker = world.worker();
  acquire_many(world, worker, 60);
  CHECK(listed(world.now(worker, by_owner())).leases.size() == 50);
  CHECK(listed(world.now(worker, by_owner(1'000'000))).leases.size() == 60);
  core::ListCall bad = by_program();
  bad.target.components[1] = "no/such";
  const auto refused = world.now(worker, bad);
  CHECK(code_of(refused) == core::FailureCode::invalid_lease_request);
  CHECK(refused.error().field == "program_id");
}

TEST_CASE("list: a page fits into the frames that the daemon writes") {
  service::Settings settings = short_settings();
  settings.max_frame_bytes = 8192;
  World world(settings);
  Worker& worker = world.worker();
  acquire_many(world, worker, 5);
  const auto page = listed(world.now(worker, by_owner(100)));
  CHECK(page.leases.size() == 2);
  CHECK_FALSE(page.next_cursor.empty());
}

TEST_CASE("list: another's leases need audit:read, and reading needs targets:read") {
  World world;
  Worker& worker = world.worker();
  Worker& poor = world.worker(1001);
  acquire_many(world, worker, 2);
  CHECK(code_of(world.now(poor, by_owner())) == core::FailureCode::access_denied);
  CHECK(code_of(world.now(poor, history_of("target-0"))) == core::FailureCode::access_denied);
  core::ListCall of_poor = by_owner();
  of_poor.owner = core::PrincipalId("prn_poor");
  CHECK(listed(world.now(worker, of_poor)).leases.empty());
  REQUIRE(world.now(poor, world.acquire_call("target-5")));
  CHECK(listed(world.now(worker, of_poor)).leases.size() == 1);
}

TEST_CASE("list: where a partition does not answer there is no page that hides it") {
  World world(short_settings(), 3);
  Worker& worker = world.worker();
  acquire_many(world, worker, 6);
  world.store.stall(true);
  const auto outcome = world.ask(worker, by_owner());
  world.advance(7s);
  REQUIRE(outcome->has_value());
  CHECK(code_of(**outcome) == core::FailureCode::lease_backend_unavailable);
}

TEST_CASE("list, history: a long search tells how far it came before who asked gives up") {
  World world;
  Worker& worker = world.worker();
  for (int i = 0; i < 250; ++i) {
    const auto lease = world.acquire(worker, i < 2 ? "target-1" : "target-2");
    REQUIRE(world.now(worker, world.release_call(lease)));
  }
  const auto ending = world.ask(worker, history_of("target-1"));
  world.stall(3s);
  world.advance(1ms);
  REQUIRE(ending->has_value());
  const auto part = told(**ending);
  CHECK(part.history.empty());
  REQUIRE_FALSE(part.next_cursor.empty());
  CHECK(told(world.now(worker, history_of("target-1", 50, part.next_cursor))).history.size() == 2);

  acquire_many(world, worker, 40);
  const auto listing = world.ask(worker, by_owner(10));
  world.stall(3s);
  world.advance(1ms);
  REQUIRE(listing->has_value());
  const auto page = listed(**listing);
  CHECK(page.leases.empty());
  REQUIRE_FALSE(page.next_cursor.empty());
  const auto last = listed(world.now(worker, by_owner(10, page.next_cursor)));
  CHECK(last.leases.empty());
  CHECK(last.next_cursor.empty());
}

TEST_CASE("list: who has gone is not searched for any longer") {
  World world(short_settings(), 3);
  Worker& worker = world.worker();
  acquire_many(world, worker, 30);
  world.service->disconnected(worker.session, worker, service::Departure::cut_off);
  Worker& asker = world.worker();
  const auto answered = world.ask(asker, by_owner(1));
  world.service->disconnected(asker.session, asker, service::Departure::left);
  world.advance(1ms);
  REQUIRE(answered->has_value());
}

TEST_CASE("cursor: serves only whoever got it, for its own question, unaltered") {
  World world;
  Worker& worker = world.worker();
  acquire_many(world, worker, 5);
  const std::string cursor = listed(world.now(worker, by_owner(2))).next_cursor;
  REQUIRE_FALSE(cursor.empty());
  const auto refused = [&](core::Call call) {
    const auto outcome = world.now(worker, std::move(call));
    CHECK(code_of(outcome) == core::FailureCode::invalid_lease_request);
    CHECK(outcome.error().field == "cursor");
    CHECK(outcome.error().message.contains("start again without it"));
  };
  refused(by_program(2, cursor));
  refused(history_of("target-1", 2, cursor));
  core::ListCall of_another = by_owner(2, cursor);
  of_another.owner = core::PrincipalId("prn_poor");
  refused(of_another);
  refused(by_owner(2, ""));
  refused(by_owner(2, "?"));
  refused(by_owner(2, cursor + "AAAA"));
  for (std::size_t length = 1; length < cursor.size(); length += 3) {
    refused(by_owner(2, cursor.substr(0, length)));
  }
  auto bytes = *base::base64url_decode(cursor);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    refused(by_owner(2, base::base64url_encode(bytes)));
    bytes[i] ^= std::byte{1};
  }
  // The page's size is no part of the question, and a restarted daemon knows its cursors.
  CHECK(listed(world.now(worker, by_owner(3, cursor))).leases.size() == 3);
  world.restart_daemon();
  world.advance(10ms);
  Worker& later = world.worker();
  CHECK(listed(world.now(later, by_owner(3, cursor))).leases.size() == 3);
}

TEST_CASE("history: newest first, with how each ended, over many pages and other locks' endings") {
  World world;
  Worker& worker = world.worker();
  for (int i = 0; i < 130; ++i) {
    for (const char* target : {"target-1", "target-2", "target-3"}) {
      const auto lease = world.acquire(worker, target);
      REQUIRE(world.now(worker, world.release_call(lease)));
    }
  }
  for (const std::int64_t size : {1, 33, 100}) {
    std::vector<std::int64_t> tokens;
    std::optional<std::string> cursor;
    do {
      const auto page = told(world.now(worker, history_of("target-2", size, cursor)));
      for (const core::InspectedAnswer& one : page.history) {
        CHECK(target_of(one) == "target-2");
        CHECK(one.state == core::LeaseState::released);
        CHECK(one.end_reason == "released");
        tokens.push_back(one.grant.token.value);
      }
      cursor.reset();
      if (!page.next_cursor.empty()) cursor = page.next_cursor;
    } while (cursor);
    CHECK(tokens.size() == 130);
    CHECK(std::ranges::is_sorted(tokens, std::greater()));
  }
  CHECK(told(world.now(worker, history_of("target-4"))).history.empty());
}

}  // namespace starlease::testing

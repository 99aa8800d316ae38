// The pure rules of the adapter: endpoint, back-off, deadlines, keys, notices, error answers,
// fitness.
#include <doctest/doctest.h>

#include "daemon/valkey/backoff.hpp"
#include "daemon/valkey/deadline_map.hpp"
#include "daemon/valkey/endpoint.hpp"
#include "daemon/valkey/notices.hpp"
#include "daemon/valkey/server_errors.hpp"
#include "daemon/valkey/suitability.hpp"
#include "tests/support/manual.hpp"

namespace starlease::valkey {
namespace {

StoreConfig plain_config() {
  StoreConfig config;
  config.endpoint.unix_path = "/run/valkey.sock";
  return config;
}

TEST_CASE("Endpoint refuses paths that the kernel would cut, and says the length") {
  Endpoint endpoint;
  endpoint.unix_path = "/" + std::string(106, 'a');
  CHECK(check_endpoint(endpoint).has_value());
  endpoint.unix_path += 'b';
  const auto refused = check_endpoint(endpoint);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().find("108") != std::string::npos);
}

TEST_CASE("Endpoint wants one place, and both halves of a client certificate") {
  Endpoint endpoint;
  CHECK_FALSE(check_endpoint(endpoint).has_value());
  endpoint.host = "valkey.example";
  CHECK(check_endpoint(endpoint).has_value());
  endpoint.unix_path = "/run/valkey.sock";
  CHECK_FALSE(check_endpoint(endpoint).has_value());
  endpoint.unix_path.clear();
  endpoint.tls.cert_file = "/etc/cert.pem";
  CHECK_FALSE(check_endpoint(endpoint).has_value());
  endpoint.tls.key_file = "/etc/key.pem";
  CHECK(check_endpoint(endpoint).has_value());
  endpoint.user = "starleased";
  CHECK_FALSE(check_endpoint(endpoint).has_value());
}

TEST_CASE("StoreConfig refuses namespaces and partition counts out of bounds") {
  StoreConfig config = plain_config();
  CHECK(check_store_config(config).has_value());
  for (const char* bad : {"", "Upper", "with space", "brace}", "\xc3\xa4"}) {
    config.name_space = bad;
    CHECK_FALSE(check_store_config(config).has_value());
  }
  config.name_space = std::string(65, 'a');
  CHECK_FALSE(check_store_config(config).has_value());
  config.name_space = "ok";
  config.partitions = 0;
  CHECK_FALSE(check_store_config(config).has_value());
  config.partitions = 4097;
  CHECK_FALSE(check_store_config(config).has_value());
}

TEST_CASE("Backoff doubles to its bound, jittered, and begins anew after reset") {
  testing::SeededRandom random(7);
  Backoff backoff(Milliseconds(20), Milliseconds(500), random);
  std::int64_t step = 20;
  for (int i = 0; i < 200; ++i) {
    const auto wait = backoff.next().count();
    CHECK(wait >= step / 2);
    CHECK(wait <= step);
    step = std::min<std::int64_t>(step * 2, 500);
  }
  backoff.reset();
  CHECK(backoff.next() <= Milliseconds(20));
}

TEST_CASE("DeadlineMap is never later than the true deadline, and 0 where it does not know") {
  DeadlineMap map(2);
  const core::BootTime read_at{Milliseconds(10'000)};
  CHECK(map.backend_ms(0, read_at + Milliseconds(500)) == 0);
  map.observe(0, core::backend_time(1'790'000'000'000), read_at);
  CHECK(map.backend_ms(1, read_at) == 0);
  const std::int64_t deadline = map.backend_ms(0, read_at + Milliseconds(5000));
  CHECK(deadline <= 1'790'000'005'000);
  CHECK(deadline >= 1'790'000'004'980);
  // A minute later the clocks may have drifted apart by 120 ms.
  const std::int64_t later = map.backend_ms(0, read_at + Milliseconds(60'000));
  CHECK(later <= 1'790'000'060'000 - 120);
  CHECK(map.backend_ms(0, core::BootTime{}) > 0);
  map.forget();
  CHECK(map.backend_ms(0, read_at) == 0);
}

TEST_CASE("PartitionKeys names gates and channels, and knows its own channels only") {
  const PartitionKeys keys("prod.a", 12);
  CHECK(keys.gate(3) == "{starlease:prod.a:3}gate");
  CHECK(keys.channel(11) == "{starlease:prod.a:11}notice");
  CHECK(keys.partition_of_channel("{starlease:prod.a:11}notice") == 11);
  for (const char* foreign :
       {"{starlease:prod.a:12}notice", "{starlease:prod.a:03}notice", "{starlease:prod:3}notice",
        "{starlease:prod.a:3}notices", "{starlease:prod.a:3}", "{starlease:prod.a:", "",
        "{starlease:prod.a:-1}notice", "x{starlease:prod.a:3}notice"}) {
    CHECK_FALSE(keys.partition_of_channel(foreign).has_value());
  }
}

TEST_CASE("A notice is parsed strictly, also with spaces and zeros in its digest") {
  std::string digest(32, ' ');
  digest[5] = '\0';
  const auto notice = parse_notice("released lease_01 " + digest, 4);
  REQUIRE(notice.has_value());
  CHECK(notice->kind == store::NoticeKind::released);
  CHECK(notice->partition == 4);
  CHECK(notice->lease_id.value == "lease_01");
  CHECK(notice->digest.chars() == digest);
  CHECK(parse_notice("expired l " + digest, 0)->kind == store::NoticeKind::expired);
  CHECK(parse_notice("revoked l " + digest, 0)->kind == store::NoticeKind::revoked);
  CHECK(parse_notice("force_released l " + digest, 0)->kind == store::NoticeKind::force_released);
  CHECK(parse_notice("recovered 1790000000000000", 0)->kind == store::NoticeKind::recovered);
  for (const std::string& bad :
       {std::string(), std::string("released"), std::string("released "), "released " + digest,
        "released  " + digest, "released lease" + digest, "revived l " + digest,
        std::string("recovered"), std::string("recovered "), std::string("recovered x1"),
        "released " + std::string(129, 'a') + " " + digest, "released a\tb " + digest}) {
    CHECK_FALSE(parse_notice(bad, 0).has_value());
  }
}

TEST_CASE("Each error answer is mapped on purpose") {
  struct Row {
    const char* error;
    CallEffect call;
    LinkEffect link;
  };
  using enum CallEffect;
  using enum LinkEffect;
  for (const Row& row : {
           Row{"LOADING Valkey is loading the dataset in memory", none, keep},
           Row{"BUSY Valkey is busy running a script. You can only call FUNCTION KILL", none, keep},
           Row{"READONLY You can't write against a read only replica.", none, reconnect},
           Row{"MASTERDOWN Link with MASTER is down", none, reconnect},
           Row{"MOVED 3999 127.0.0.1:6381", none, reconnect},
           Row{"ASK 3999 127.0.0.1:6381", none, keep},
           Row{"TRYAGAIN Multiple keys request during rehashing of slot", none, keep},
           Row{"CLUSTERDOWN The cluster is down", none, keep},
           Row{"CROSSSLOT Keys in request don't hash to the same slot", none, keep},
           Row{"NOREPLICAS Not enough good replicas to write.", none, keep},
           Row{"MISCONF Errors writing to the AOF file: No space left on device", none, keep},
           Row{"OOM command not allowed when used memory > 'maxmemory'.", none, keep},
           Row{"NOAUTH Authentication required.", none, reconnect},
           Row{"WRONGPASS invalid username-password pair or user is disabled.", none, reconnect},
           Row{"NOPERM User x has no permissions to run the 'fcall' command", none, keep},
           Row{"NOPROTO unsupported protocol version", none, reconnect},
           Row{"ERR unknown command 'FCALL'", none, reconnect},
           Row{"ERR max number of clients reached", none, reconnect},
           Row{"ERR Function not found", none, reconnect},
           Row{"NOSCRIPT No matching script.", none, reconnect},
           Row{"ERR Script killed by user with FUNCTION KILL.", none, keep},
           Row{"ERR ACL failure in script: User x has no permissions script: f, on "
               "@user_function:3.",
               possible, keep},
           Row{"WRONGTYPE Operation against a key holding the wrong kind of value script: f, on "
               "@user_function:2.",
               possible, keep},
           Row{"OOM command not allowed script: f, on @user_function:2.", possible, keep},
           Row{"ERR something nobody has seen yet", possible, keep},
       }) {
    const ErrorRule& rule = classify(row.error);
    CAPTURE(row.error);
    CHECK(rule.call == row.call);
    CHECK(rule.link == row.link);
    CHECK(rule.retry_after.count() > 0);
    CHECK_FALSE(rule.remedy.empty());
  }
}

TEST_CASE("A server's text is safe for a log line") {
  CHECK(printable("ERR a\r\nb\x1b[0m") == "ERR a??b?[0m");
  CHECK(printable(std::string(5000, 'x')).size() == 200);
}

ServerFacts good_facts() {
  ServerFacts facts;
  read_info(
      "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n"
      "server_mode:standalone\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n"
      "# Persistence\r\nloading:0\r\naof_enabled:1\r\n# Replication\r\nrole:master\r\n"
      "connected_slaves:0\r\n",
      facts);
  facts.append_fsync = "always";
  facts.min_replicas_to_write = 0;
  facts.min_replicas_max_lag_s = 10;
  return facts;
}

TEST_CASE("A durable standalone primary is fit, as stated too") {
  StoreConfig config = plain_config();
  CHECK_FALSE(unfit(good_facts(), config).has_value());
  ServerFacts unread = good_facts();
  unread.append_fsync = std::nullopt;
  CHECK(unfit(unread, config)->remedy.find("+config|get") != std::string::npos);
  config.suitability = Suitability::stated;
  CHECK_FALSE(unfit(unread, config).has_value());
}

TEST_CASE("What makes a server unfit is said with what to change") {
  StoreConfig config = plain_config();
  const auto remedy = [&config](auto change) {
    ServerFacts facts = good_facts();
    change(facts);
    const auto fault = unfit(facts, config);
    return fault ? fault->what + " / " + fault->remedy : std::string("fit");
  };
  const auto names = [](const std::string& text, const char* word) {
    CAPTURE(text);
    return text.find(word) != std::string::npos;
  };
  using F = ServerFacts;
  CHECK(names(remedy([](F& f) { f.version = "7.2.4"; }), "7.2.5"));
  CHECK(names(remedy([](F& f) { f.product = ""; }), "Valkey 7.2.5"));
  CHECK(names(remedy([](F& f) { f.version = "?"; }), "7.2.5"));
  CHECK(names(remedy([](F& f) { f.role = "slave"; }), "replica"));
  CHECK(names(remedy([](F& f) { f.mode = "sentinel"; }), "Sentinel"));
  CHECK(names(remedy([](F& f) { f.maxmemory_policy = "allkeys-lru"; }),
              "CONFIG SET maxmemory-policy noeviction"));
  CHECK(names(remedy([](F& f) { f.append_only = false; }), "CONFIG SET appendonly yes"));
  CHECK(names(remedy([](F& f) { f.append_fsync = "everysec"; }), "CONFIG SET appendfsync always"));
  CHECK(names(remedy([](F& f) { f.fsync_paused_by_rewrite = true; }),
              "CONFIG SET no-appendfsync-on-rewrite no"));
  CHECK(
      names(remedy([](F& f) { f.connected_replicas = 1; }), "CONFIG SET min-replicas-to-write 1"));
  CHECK(names(remedy([](F& f) {
                f.connected_replicas = 1;
                f.min_replicas_to_write = 1;
                f.min_replicas_max_lag_s = 60;
              }),
              "min-replicas-max-lag"));
  config.replicated = true;
  CHECK(names(remedy([](F&) {}), "min-replicas-to-write"));
}

TEST_CASE("Durability none asks for the right server and for nothing else") {
  StoreConfig config = plain_config();
  config.durability = Durability::none;
  ServerFacts facts = good_facts();
  facts.append_only = false;
  facts.append_fsync = std::nullopt;
  CHECK_FALSE(unfit(facts, config).has_value());
  facts.role = "slave";
  CHECK(unfit(facts, config).has_value());
}

}  // namespace
}  // namespace starlease::valkey

// Audit lines and the audit file: what is in a line, rotation, and that a file that cannot be
// written costs events and not requests.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <vector>

#include "daemon/audit/encode.hpp"
#include "daemon/audit/file_sink.hpp"
#include "daemon/audit/line_sink.hpp"
#include "tests/support/scratch.hpp"

using namespace starlease;

namespace {

struct MemoryLog final : base::Log {
  std::vector<std::string> lines;
  void write(base::LogLevel, std::string_view event,
             std::initializer_list<base::LogField> fields) override {
    std::string line(event);
    for (const auto& field : fields) {
      if (const auto* number = std::get_if<std::int64_t>(&field.value))
        line += " " + std::to_string(*number);
    }
    lines.push_back(line);
  }
};

core::AuditEvent full_event() {
  core::AuditEvent event;
  event.type = core::AuditType::target_lease_acquire;
  event.at = base::WallTime(base::Milliseconds(1785931200123));
  event.latency = base::Nanoseconds(1'500'000);
  event.request_id = core::RequestId("req-1");
  event.correlation_id = core::CorrelationId("corr_1");
  event.decision_id = core::DecisionId("dec_1");
  event.work = {core::ExecutionId("e1"), core::JobId(""), core::TraceId("t1")};
  event.principal_class = "actor_component";
  event.owner = {core::PrincipalId("p"), core::ClientId("c"), core::CredentialId("uid-1"),
                 core::ServiceInstanceId("i")};
  event.identity =
      core::LockIdentity{{"tenant", "prog", "ns", "t\"1", "actor", "default", "default"}};
  event.lease_id = core::LeaseId("lease_1");
  event.token = core::FencingToken{42};
  event.requested_ttl = core::Milliseconds(2000);
  event.effective_ttl = core::Milliseconds(1500);
  event.resulting_state = core::LeaseState::active;
  event.code = "lease_acquired";
  return event;
}

}  // namespace

TEST_CASE("an event is one line of JSON with the contract's members") {
  CHECK(
      audit::encode(full_event()) ==
      R"({"event_type":"target_lease_acquire","at":"2026-08-05T12:00:00.123Z","latency_us":1500,)"
      R"("code":"lease_acquired","retryable":false,"request_id":"req-1","correlation_id":"corr_1",)"
      R"("decision_id":"dec_1","execution_id":"e1","trace_id":"t1",)"
      R"("principal_class":"actor_component","principal_id":"p","client_id":"c",)"
      R"("credential_id":"uid-1","service_instance_id":"i",)"
      R"("lock_identity":{"tenant_id":"tenant","program_id":"prog","target_namespace":"ns",)"
      R"("target_id":"t\"1","actor_name":"actor","workflow_name":"default",)"
      R"("operation_class":"default"},)"
      R"("lease_id":"lease_1","fencing_token":42,"requested_ttl_ms":2000,"effective_ttl_ms":1500,)"
      R"("resulting_state":"active"})");
}

TEST_CASE("what an event does not have is not in the line") {
  core::AuditEvent event;
  event.type = core::AuditType::target_lease_authenticate;
  event.code = "invalid_credential";
  event.retryable = true;
  CHECK(audit::encode(event) ==
        R"({"event_type":"target_lease_authenticate","at":"1970-01-01T00:00:00.000Z",)"
        R"("latency_us":0,"code":"invalid_credential","retryable":true})");
}

TEST_CASE("the file is private, appended to, and has a line for each event") {
  const test::Scratch scratch;
  MemoryLog log;
  scratch.write("a.jsonl", "before\n");
  {
    auto sink = audit::FileSink::open({scratch.path("a.jsonl"), 1 << 20, 3}, log);
    REQUIRE(sink);
    (*sink)->record(full_event());
    (*sink)->record(full_event());
  }
  const std::string line = audit::encode(full_event()) + "\n";
  CHECK(scratch.read("a.jsonl") == "before\n" + line + line);
  struct stat status{};
  auto fresh = audit::FileSink::open({scratch.path("b.jsonl"), 1 << 20, 3}, log);
  REQUIRE(::stat(scratch.path("b.jsonl").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(log.lines.empty());
}

TEST_CASE("the file is put aside before it grows past its size, and the oldest goes") {
  const test::Scratch scratch;
  MemoryLog log;
  const std::string line = audit::encode(full_event()) + "\n";
  const auto bound = static_cast<std::int64_t>(line.size() * 2 + 1);
  auto sink = audit::FileSink::open({scratch.path("a"), bound, 2}, log);
  REQUIRE(sink);
  for (int i = 0; i < 7; ++i) (*sink)->record(full_event());
  CHECK(scratch.read("a") == line);
  CHECK(scratch.read("a.1") == line + line);
  CHECK(scratch.read("a.2") == line + line);
  struct stat status{};
  CHECK(::stat(scratch.path("a.3").c_str(), &status) != 0);
  CHECK(log.lines.empty());
}

TEST_CASE("what is no plain file is refused at once") {
  const test::Scratch scratch;
  MemoryLog log;
  const auto refused = [&](const std::string& path) {
    return audit::FileSink::open({path, 1000, 1}, log).has_value() == false;
  };
  REQUIRE(::mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  REQUIRE(::symlink("/dev/null", scratch.path("link").c_str()) == 0);
  CHECK(refused(scratch.path("fifo")));
  CHECK(refused(scratch.path("link")));
  CHECK(refused(scratch.path()));
  CHECK(refused(scratch.path("no/such/folder")));
}

TEST_CASE("a full disk is told once, counted, and told again when it is over") {
  MemoryLog log;
  const test::Scratch scratch;
  auto sink = audit::FileSink::open({scratch.path("a"), 100, 1}, log);
  REQUIRE(sink);
  (*sink)->record(full_event());
  // Putting the file aside fails from here on: its folder is gone.
  REQUIRE(::rename(scratch.path().c_str(), (scratch.path() + ".gone").c_str()) == 0);
  for (int i = 0; i < 1500; ++i) (*sink)->record(full_event());
  CHECK(log.lines ==
        std::vector<std::string>{"audit event not written 1", "audit event not written 1001"});
  REQUIRE(::rename((scratch.path() + ".gone").c_str(), scratch.path().c_str()) == 0);
  (*sink)->record(full_event());
  CHECK(log.lines.back() == "audit file is written again 1500");
  CHECK(scratch.read("a") == audit::encode(full_event()) + "\n");
}

TEST_CASE("the line sink hands on whole lines") {
  std::string out;
  audit::LineSink sink([&out](std::string_view line) { out += line; });
  sink.record(full_event());
  CHECK(out == audit::encode(full_event()) + "\n");
}

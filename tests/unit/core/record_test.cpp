// Each invariant of a lease record, broken alone.
#include "lib/core/record.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "lib/core/limits.hpp"
#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

struct Change {
  const char* what;
  std::function<void(LeaseRecord&)> make;
};

TEST_CASE("a good record is good, also at its edges") {
  CHECK(check_record(sample::record()));
  const std::vector<Change> edges = {
      {"the largest token", [](LeaseRecord& r) { r.grant.token = {limits::maximum_token}; }},
      {"a lifetime of one ttl", [](LeaseRecord& r) { r.maximum_lifetime = Milliseconds(3000); }},
      {"ended at once", [](LeaseRecord& r) { r.grant.expires_at = r.grant.renewed_at; }},
      {"never renewed", [](LeaseRecord& r) { r.grant.renewed_at = r.grant.acquired_at; }},
      {"large metadata", [](LeaseRecord& r) { r.metadata.resize(limits::metadata_bytes); }},
      {"a long id", [](LeaseRecord& r) { r.work.job.value.resize(limits::id_bytes); }},
      {"no work ids", [](LeaseRecord& r) { r.work = {}; }},
  };
  for (const Change& edge : edges) {
    CAPTURE(edge.what);
    LeaseRecord record = sample::record();
    edge.make(record);
    CHECK(check_record(record));
  }
}

TEST_CASE("each broken invariant is found and named") {
  const std::vector<Change> faults = {
      {"token 0", [](LeaseRecord& r) { r.grant.token = {0}; }},
      {"token too large", [](LeaseRecord& r) { r.grant.token = {limits::maximum_token + 1}; }},
      {"negative token", [](LeaseRecord& r) { r.grant.token = {-1}; }},
      {"no principal", [](LeaseRecord& r) { r.owner.principal = {}; }},
      {"no client", [](LeaseRecord& r) { r.owner.client = {}; }},
      {"no credential", [](LeaseRecord& r) { r.owner.credential = {}; }},
      {"no instance", [](LeaseRecord& r) { r.owner.instance = {}; }},
      {"no lease id", [](LeaseRecord& r) { r.grant.lease_id = {}; }},
      {"no request id", [](LeaseRecord& r) { r.request_id = {}; }},
      {"a long job id", [](LeaseRecord& r) { r.work.job.value.resize(limits::id_bytes + 1); }},
      {"no ttl", [](LeaseRecord& r) { r.grant.ttl = Milliseconds(0); }},
      {"ttl past the lifetime", [](LeaseRecord& r) { r.grant.ttl = Milliseconds(10'001); }},
      {"renewed before acquired", [](LeaseRecord& r) { r.grant.renewed_at = backend_time(999); }},
      {"ends before renewed", [](LeaseRecord& r) { r.grant.expires_at = backend_time(1999); }},
      {"outlives its lifetime", [](LeaseRecord& r) { r.grant.expires_at = backend_time(11'001); }},
      {"metadata", [](LeaseRecord& r) { r.metadata.resize(limits::metadata_bytes + 1); }},
      {"empty component", [](LeaseRecord& r) { r.identity.components[6].clear(); }},
      {"long component", [](LeaseRecord& r) { r.identity.components[0].resize(257, 'a'); }},
  };
  for (const Change& fault : faults) {
    CAPTURE(fault.what);
    LeaseRecord record = sample::record();
    fault.make(record);
    const auto verdict = check_record(record);
    REQUIRE(!verdict);
    CHECK(!verdict.error().empty());
  }
}

}  // namespace
}  // namespace starlease::core

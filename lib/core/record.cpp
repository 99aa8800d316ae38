// Invariants of the lease record; see the header.
#include "lib/core/record.hpp"

#include "lib/core/limits.hpp"

namespace starlease::core {
namespace {

bool id_holds(std::string_view id, bool required) {
  return id.size() <= limits::id_bytes && (!required || !id.empty());
}

bool ids_hold(const LeaseRecord& record) {
  return id_holds(record.owner.principal.value, true) &&
         id_holds(record.owner.client.value, true) &&
         id_holds(record.owner.credential.value, true) &&
         id_holds(record.owner.instance.value, true) &&
         id_holds(record.grant.lease_id.value, true) && id_holds(record.request_id.value, true) &&
         id_holds(record.work.execution.value, false) && id_holds(record.work.job.value, false) &&
         id_holds(record.work.trace.value, false);
}

}  // namespace

base::Result<void, std::string> check_record(const LeaseRecord& record) {
  const auto broken = [](const char* what) { return base::failed(std::string(what)); };
  const Grant& grant = record.grant;
  if (!grant.token.valid()) return broken("the fencing token is out of range");
  if (!ids_hold(record)) return broken("an identifier is missing or too long");
  if (grant.ttl.count() <= 0 || record.maximum_lifetime < grant.ttl) {
    return broken("the ttl is not within the maximum lifetime");
  }
  if (grant.renewed_at < grant.acquired_at || grant.expires_at < grant.renewed_at) {
    return broken("the times are out of order");
  }
  if (grant.expires_at > grant.acquired_at + record.maximum_lifetime) {
    return broken("the lease outlives its maximum lifetime");
  }
  if (record.metadata.size() > limits::metadata_bytes) return broken("the metadata is too large");
  for (const std::string& component : record.identity.components) {
    if (component.empty() || component.size() > limits::identity_component_bytes) {
      return broken("an identity component is missing or too long");
    }
  }
  return {};
}

}  // namespace starlease::core

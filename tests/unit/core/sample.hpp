// A valid identity, owner and record to be changed in one thing by a test.
#pragma once

#include "lib/core/lock_key.hpp"
#include "lib/core/record.hpp"

namespace starlease::core::sample {

inline RawIdentity raw_identity() {
  RawIdentity raw;
  raw.components = {"tenant", "program", "ns", "target", "actor", std::nullopt, std::nullopt};
  return raw;
}

inline LockIdentity identity() { return *normalize(raw_identity(), {}); }

inline Owner owner() {
  return {PrincipalId("principal"), ClientId("client"), CredentialId("credential"),
          ServiceInstanceId("instance")};
}

inline LeaseRecord record() {
  LeaseRecord record;
  record.identity = identity();
  record.owner = owner();
  record.grant = {LeaseId("lease"),   {1},
                  backend_time(1000), backend_time(2000),
                  backend_time(4000), Milliseconds(2000)};
  record.maximum_lifetime = Milliseconds(10'000);
  record.request_id = RequestId("request");
  return record;
}

}  // namespace starlease::core::sample

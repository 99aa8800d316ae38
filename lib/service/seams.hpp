// Everything outside that the service uses, in one place: each is an interface, owned by whoever
// composes the daemon (or the simulator), and outlives the service.
#pragma once

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/random.hpp"
#include "lib/base/timers.hpp"
#include "lib/service/audit.hpp"
#include "lib/service/local_state.hpp"
#include "lib/store/lease_store.hpp"

namespace starlease::service {

struct Seams {
  const base::Clock& clock;
  base::Timers& timers;
  base::Random& random;
  store::LeaseStore& store;
  base::Log& log;
  AuditSink& audit;
  LocalState& local_state;
};

}  // namespace starlease::service

// renew: a worker's own renewal, also the way in which a resumed session claims what it held.
// Contract "renew-if-owner"; ipc.md `renew`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once.
void renew(Kernel& kernel, Session& session, const CallContext& context, core::RenewCall call,
           AnswerDone done);

}  // namespace starlease::service

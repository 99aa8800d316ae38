// acquire: one attempt, or a bounded wait in line. Contract "acquire-if-free"; ipc.md `acquire`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// Checks the call against the caller's rights and the policy, then starts it. `done` is called
/// once.
void acquire(Kernel& kernel, Session& session, const CallContext& context, core::AcquireCall call,
             AnswerDone done);

}  // namespace starlease::service

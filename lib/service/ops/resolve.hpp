// resolve: what became of a request whose outcome is unknown. Contract "idempotency"; ipc.md
// `resolve`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once.
void resolve(Kernel& kernel, Session& session, const CallContext& context, core::ResolveCall call,
             AnswerDone done);

}  // namespace starlease::service

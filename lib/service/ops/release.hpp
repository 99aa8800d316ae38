// release: the worker gives its lease back. Contract "release-if-owner"; ipc.md `release`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once.
void release(Kernel& kernel, Session& session, const CallContext& context, core::ReleaseCall call,
             AnswerDone done);

}  // namespace starlease::service

// inspect: the state of a lock or of one lease, terminal evidence included. Contract "inspect".
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once. Out of scope and absent give the same answer.
void inspect(Kernel& kernel, Session& session, const CallContext& context, core::InspectCall call,
             AnswerDone done);

}  // namespace starlease::service

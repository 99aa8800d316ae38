// What an operator may ask on the admin socket now: the state of the namespace, making a new one,
// and the daemon's own figures.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// Needs namespace:admin. `status` reads every partition's gate; `init` makes the absent ones.
void namespace_operation(Kernel& kernel, Session& session, const CallContext& context,
                         core::NamespaceCall call, AnswerDone done);

/// Needs namespace:admin.
void stats(Kernel& kernel, Session& session, AnswerDone done);

}  // namespace starlease::service

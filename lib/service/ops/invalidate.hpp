// force_release and revoke: an administrator ends the lease that he has seen. Contract
// "force-release", "revoke"; design.md 12.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once. Refused before the store is asked: without the capability and scope
/// (access_denied), without a signature by a configured key over exactly these values
/// (invalid_credential), past its deadline.
void invalidate(Kernel& kernel, Session& session, const CallContext& context,
                core::InvalidateCall call, AnswerDone done);

}  // namespace starlease::service

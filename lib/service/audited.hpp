// Wraps a request's completion so that exactly one audit event follows from its outcome. Contract
// "audit": accepted, denied, conflicted and failed requests alike.
#pragma once

#include "lib/service/call_context.hpp"
#include "lib/service/seams.hpp"

namespace starlease::service {

/// The completion to hand to the operation; `done` gets the same outcome. Calls that touch no lease
/// (ping, stats) are not audited.
[[nodiscard]] AnswerDone audited(const Seams& seams, const Session& session,
                                 const CallContext& context, const core::Call& call,
                                 ReplyDone done);

}  // namespace starlease::service

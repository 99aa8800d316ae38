// history: how the leases of an identity ended, newest first. ipc.md `history`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once. Where the search takes long, a page may be short, even empty; only one
/// without a cursor is the last.
void history(Kernel& kernel, Session& session, const CallContext& context,
             const core::HistoryCall& call, AnswerDone done);

}  // namespace starlease::service

// commit: a fenced write; document: reading what one has left. Contract "fencing".
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once. Refused without asking the store where this session was told that the
/// lease is lost, or holds it outside its scope; everything else is decided in the store, at one
/// point, against the lease as it is there.
void commit(Kernel& kernel, Session& session, const CallContext& context, core::CommitCall call,
            AnswerDone done);

/// `done` is called once.
void read_document(Kernel& kernel, Session& session, const CallContext& context,
                   const core::DocumentCall& call, AnswerDone done);

}  // namespace starlease::service

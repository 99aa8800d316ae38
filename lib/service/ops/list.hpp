// list: the active leases of an owner, a target or a program, a page at a time. ipc.md `list`.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// `done` is called once. Tells leases within the caller's scope only, in the order of
/// core::list_position() over all partitions. A lease that is active during a whole walk is in
/// exactly one of its pages. Where time runs short, a page may be short, even empty; only one
/// without a cursor is the last.
void list(Kernel& kernel, Session& session, const CallContext& context, const core::ListCall& call,
          AnswerDone done);

}  // namespace starlease::service

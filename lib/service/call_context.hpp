// What travels with one request through the service: when it came, until when it may begin, and the
// ids under which it is logged, audited and answered.
#pragma once

#include <optional>

#include "lib/base/completion.hpp"
#include "lib/core/audit_event.hpp"
#include "lib/core/calls.hpp"
#include "lib/service/session.hpp"

namespace starlease::service {

/// A finished request.
struct Reply {
  core::CorrelationId correlation;
  core::Outcome<core::Answer> outcome;
};
using ReplyDone = base::Completion<Reply>;
using AnswerDone = base::Completion<core::Outcome<core::Answer>>;

struct CallContext {
  SessionId session{};
  BootTime received_at;
  core::CorrelationId correlation;
  core::DecisionId decision;
};

/// Until when the operation may begin: what was asked, cut to the policy's maximum; the default
/// where nothing was asked; nothing if it has passed already. Contract "deadlines".
[[nodiscard]] std::optional<BootTime> deadline_of(const core::DeadlineRequest& asked,
                                                  const core::LeasePolicy& policy,
                                                  BootTime received_at, core::WallTime wall_now);

}  // namespace starlease::service

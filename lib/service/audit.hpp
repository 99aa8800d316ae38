// Where audit events of requests go. One event per request, whatever its outcome.
#pragma once

#include "lib/core/audit_event.hpp"

namespace starlease::service {

class AuditSink {
 public:
  virtual ~AuditSink() = default;
  /// Must not block for long and must not fail the request: a sink that cannot write says so in its
  /// own bounded way.
  virtual void record(const core::AuditEvent& event) = 0;
};

}  // namespace starlease::service

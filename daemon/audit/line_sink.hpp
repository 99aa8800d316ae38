// Audit events as lines to whatever takes lines (standard error), or nowhere at all.
#pragma once

#include <functional>
#include <string_view>

#include "daemon/audit/encode.hpp"
#include "lib/service/audit.hpp"

namespace starlease::audit {

/// The local trail is switched off; what changes a lease is still audited in the store.
class NullSink final : public service::AuditSink {
 public:
  void record(const core::AuditEvent& /*event*/) override {}
};

class LineSink final : public service::AuditSink {
 public:
  /// `write` takes one line with its newline and never waits.
  explicit LineSink(std::move_only_function<void(std::string_view)> write)
      : write_(std::move(write)) {}

  void record(const core::AuditEvent& event) override { write_(encode(event) + "\n"); }

 private:
  std::move_only_function<void(std::string_view)> write_;
};

}  // namespace starlease::audit

// Operators' requests; see the header.
#include "lib/service/ops/admin.hpp"

#include <algorithm>
#include <memory>

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

std::string_view gate_name(const store::Gate& gate, core::BackendTime now) {
  switch (gate.state) {
    case store::GateState::serving:
      if (!gate.on_this_server) return "foreign";
      return now < gate.grace_until ? "grace" : "serving";
    case store::GateState::closed:
      return "closed";
    case store::GateState::absent:
      return "absent";
    case store::GateState::corrupt:
      return "corrupt";
  }
  SL_UNREACHABLE();
}

/// Asks every partition and answers when all have.
class NamespaceOperation final : public PendingOperation {
 public:
  NamespaceOperation(Kernel& kernel, std::uint64_t number, SessionId session, BootTime deadline,
                     AnswerDone done)
      : kernel_(kernel),
        number_(number),
        session_(session),
        deadline_(deadline),
        done_(std::move(done)) {
    answer_.namespace_name = kernel.settings.namespace_name;
  }

  void start(const core::NamespaceCall& call, const CallContext& context) {
    const std::uint32_t count = kernel_.seams.store.partition_count();
    left_ = count;
    action_ = call.action;
    for (std::uint32_t partition = 0; partition < count; ++partition) {
      auto then = [&kernel = kernel_, number = number_, partition](store::GateResult result) {
        static_cast<NamespaceOperation*>(kernel.pending(number))->on_gate(partition, result);
      };
      if (call.action == core::NamespaceAction::status) {
        kernel_.seams.store.read_gate(partition, deadline_, std::move(then));
      } else {
        store::InitGateCommand command;
        command.partition = partition;
        command.audit = {kernel_.ids.request(), context.correlation, context.decision,
                         "administrator"};
        kernel_.seams.store.init_gate(std::move(command), deadline_, std::move(then));
      }
    }
  }

  void session_gone() override {}
  void store_may_serve() override {}
  [[nodiscard]] SessionId session() const override { return session_; }

 private:
  [[nodiscard]] core::Failure trouble_of(const store::Head& head) const {
    if (action_ != core::NamespaceAction::init || head.status != Status::conflict) {
      return failure_of(head);
    }
    core::Failure exists = core::failure(FailureCode::invalid_lease_request);
    exists.field = "action";
    exists.message = "The namespace exists already; there is nothing to initialize";
    return exists;
  }

  void on_gate(std::uint32_t partition, const store::GateResult& result) {
    if (result.head.status != Status::ok && !trouble_) trouble_ = trouble_of(result.head);
    if (result.head.status == Status::ok) {
      if (action_ == core::NamespaceAction::init) kernel_.recovery.look_again(partition);
      const store::Gate& gate = result.gate;
      answer_.partitions.push_back({partition, std::string(gate_name(gate, result.head.now)),
                                    gate.epoch, gate.token_floor, gate.sequence});
    }
    if (--left_ > 0) return;
    std::ranges::sort(answer_.partitions, {}, &core::PartitionStatus::partition);
    AnswerDone done = std::move(done_);
    kernel_.finished(number_);
    if (trouble_) return done(base::failed(std::move(*trouble_)));
    done(std::move(answer_));
  }

  Kernel& kernel_;
  std::uint64_t number_;
  SessionId session_;
  BootTime deadline_;
  AnswerDone done_;
  core::NamespaceAnswer answer_;
  std::uint32_t left_ = 0;
  std::optional<core::Failure> trouble_;
  core::NamespaceAction action_ = core::NamespaceAction::status;
};

}  // namespace

void namespace_operation(Kernel& kernel, Session& session, const CallContext& context,
                         core::NamespaceCall call, AnswerDone done) {
  if (!core::has_capability(*session.principal, core::Capability::namespace_admin)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const std::uint64_t number = kernel.next_number();
  auto owned = std::make_unique<NamespaceOperation>(
      kernel, number, session.id, context.received_at + kernel.settings.policy.default_timeout,
      std::move(done));
  NamespaceOperation& operation = *owned;
  kernel.keep(number, std::move(owned));
  operation.start(call, context);
}

void stats(Kernel& kernel, Session& session, AnswerDone done) {
  if (!core::has_capability(*session.principal, core::Capability::namespace_admin)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const auto count = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  core::StatsAnswer answer;
  answer.values = {
      {"sessions", count(kernel.sessions.size())},
      {"leases_held", count(kernel.held.size())},
      {"leases_lost_total", count(kernel.loss.told())},
      {"renewals_total", count(kernel.renewer.renewed())},
      {"renewal_calls_total", count(kernel.renewer.calls())},
      {"waiters", count(kernel.waiters.size())},
      {"operations_pending", count(kernel.pending_count())},
      {"releases_pending", count(kernel.releaser.backlog())},
      {"store_commands_pending", count(kernel.seams.store.pending())},
      {"recoveries_total", count(kernel.recovery.recoveries())},
      {"leases_swept_total", count(kernel.sweeper.swept())},
  };
  done(std::move(answer));
}

}  // namespace starlease::service

// Lines of a trace; see the header.
#include "tests/sim/trace.hpp"

namespace starlease::sim {
namespace {

/// The end of a lease id names the lock, its beginning the time: the middle tells leases apart.
std::string short_id(const core::LeaseId& id) { return id.value.substr(6, 26); }

std::string outcome_of(const core::Outcome<core::Answer>& outcome) {
  if (!outcome) return std::string(core::name(outcome.error().code));
  if (const auto* grant = std::get_if<core::GrantAnswer>(&*outcome)) {
    return "grant " + short_id(grant->grant.lease_id) +
           (grant->replay
                ? " replayed, now " + std::string(core::name(grant->replay->current_state))
                : "");
  }
  return "answer " + std::to_string(outcome->index());
}

}  // namespace

void Trace::line(Time now, const std::string& text) {
  const std::string whole = std::to_string(now.count() / 1000) + "us " + text;
  for (const char c : whole) {
    digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  if (print_) std::printf("%s\n", whole.c_str());
}

void Trace::acquired(Time now, const store::AcquireCommand& command,
                     const store::AcquireResult& result) {
  const bool granted = result.head.status == store::Status::ok;
  line(now, "server  acquire " + command.identity.components[3] + " by " +
                command.owner.instance.value + " " + command.audit.request_id.value + ": " +
                std::string(store::name(result.head.status)) +
                (result.head.replayed ? " replayed" : "") +
                (granted ? " " + short_id(result.grant.lease_id) + " token " +
                               std::to_string(result.grant.token.value)
                         : ""));
}

void Trace::renewed(Time now, const store::Holder& holder, store::Status status,
                    core::BackendTime expires_at, const store::Head&) {
  line(now, "server  renew " + short_id(holder.lease_id) + ": " + std::string(store::name(status)) +
                " until " + std::to_string(core::unix_ms(expires_at)));
}

void Trace::released(Time now, const store::ReleaseCommand& command,
                     const store::ReleaseResult& result) {
  line(now, "server  release " + short_id(command.holder.lease_id) + ": " +
                std::string(store::name(result.head.status)));
}

void Trace::committed(Time now, const store::CommitCommand& command,
                      const store::CommitResult& result) {
  line(now, "server  commit " + short_id(command.lease_id) + " " + command.audit.request_id.value +
                ": " + std::string(store::name(result.head.status)) +
                (result.head.replayed ? " replayed" : "") + " revision " +
                std::to_string(result.revision));
}

void Trace::recovered(Time now, std::uint32_t partition, const store::RecoverResult& result) {
  line(now, "server  recover " + std::to_string(partition) + ": " +
                std::string(store::name(result.head.status)) + " epoch " +
                std::to_string(result.gate.epoch.value) + " grace until " +
                std::to_string(core::unix_ms(result.gate.grace_until)));
}

void Trace::wrote(Time now, const Written& written) {
  std::string text = "daemon  " + std::to_string(written.daemon) + " to worker " +
                     std::to_string(written.worker) + "/" + std::to_string(written.connection) +
                     ": ";
  if (const auto* reply = std::get_if<ipc::Reply>(&written.message)) {
    text += outcome_of(reply->outcome);
  } else if (const auto* event = std::get_if<core::Event>(&written.message)) {
    if (const auto* lost = std::get_if<core::LeaseLost>(event)) {
      text += "lost " + short_id(lost->lease_id) + " " + std::string(core::name(lost->reason));
    } else {
      text += "event " + std::to_string(event->index());
    }
  }
  line(now, text);
}

void Trace::believes(Time now, const Belief& belief) {
  line(now, "worker  " + std::to_string(belief.worker) + " relies on " + short_id(belief.lease_id) +
                " until " + std::to_string(belief.until.count() / 1000) + "us");
}

void Trace::believes_no_more(Time now, std::uint64_t worker, const core::LeaseId& lease_id) {
  line(now, "worker  " + std::to_string(worker) + " lets go of " + short_id(lease_id));
}

}  // namespace starlease::sim

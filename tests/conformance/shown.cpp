// Results as text; see the header.
#include "tests/conformance/shown.hpp"

#include <algorithm>
#include <array>

namespace starlease::conformance {
namespace {

std::string ms(core::BackendTime time) { return std::to_string(core::unix_ms(time)); }

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes.substr(0, 6)) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text.append(1, digits[value >> 4]).append(1, digits[value & 15]);
  }
  return text;
}

std::string status(store::Status status) { return std::string(store::name(status)); }

}  // namespace

std::string Shower::token(core::FencingToken token) const {
  const auto above =
      std::ranges::lower_bound(epochs_, token.value);  // tokens are above their floor
  if (above == epochs_.begin()) return std::to_string(token.value);
  return "e" + std::to_string(above - epochs_.begin()) + "+" +
         std::to_string(token.value - *(above - 1));
}

std::string Shower::epoch(core::Epoch epoch) {
  if (epoch.value == 0) return "e0";
  if (epochs_.empty() || epochs_.back() < epoch.value) epochs_.push_back(epoch.value);
  const auto at = std::ranges::lower_bound(epochs_, epoch.value);
  return "e" + std::to_string(at - epochs_.begin() + 1);
}

std::string Shower::head(const store::Head& head) {
  // Only what the service acts upon.
  std::string text = status(head.status);
  if (head.status == store::Status::ok) text += " " + epoch(head.epoch);
  if (head.replayed) text += " replayed";
  if (head.retry_after && head.status != store::Status::recovering &&
      head.status != store::Status::unavailable) {
    text += " retry " + std::to_string(head.retry_after->count());
  }
  return text;
}

std::string Shower::grant(const core::Grant& grant) const {
  return " " + grant.lease_id.value + " " + token(grant.token) + " acquired " +
         ms(grant.acquired_at) + " renewed " + ms(grant.renewed_at) + " expires " +
         ms(grant.expires_at) + " ttl " + std::to_string(grant.ttl.count());
}

struct ShowVisitor {
  Shower& shower;

  std::string operator()(const store::AcquireResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status == store::Status::ok) {
      text += shower.grant(r.grant);
      if (r.head.replayed) text += " now " + std::string(core::name(r.current_state));
      const bool active = r.current_state == core::LeaseState::active;
      if (r.head.replayed && active) text += " until " + ms(r.current_expires_at);
    }
    if (r.own_lease_id) text += " own " + r.own_lease_id->value;
    return text;
  }
  std::string operator()(const store::TimedRenewalsResult& r) const {
    std::string text = shower.head(r.head);
    for (const store::TimedRenewalResult& one : r.results) {
      text += " [" + status(one.status);
      if (one.status == store::Status::ok) text += " until " + ms(one.expires_at);
      if (one.state) text += " " + std::string(core::name(*one.state));
      if (one.forced) text += " by force";
      text += "]";
    }
    return text;
  }
  std::string operator()(const store::RenewResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status == store::Status::ok) {
      text += shower.grant(r.grant);
      if (r.head.replayed) text += " now " + std::string(core::name(r.current_state));
      if (r.record) text += " record of " + r.record->identity.components[3];
    }
    return text;
  }
  std::string operator()(const store::ReleaseResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status == store::Status::ok) {
      text += " at " + ms(r.released_at) + " " + r.lease_id.value + " " + shower.token(r.token);
    }
    return text;
  }
  std::string operator()(const store::InspectResult& r) const {
    std::string text = shower.head(r.head);
    return r.head.status == store::Status::ok ? text + record(*r.record) : text;
  }
  std::string operator()(const store::ListResult& r) const {
    std::string text = shower.head(r.head) + (r.more ? " more" : "") + " behind " + hex(r.reached);
    for (const store::ListedLease& lease : r.leases) {
      text += " [" + hex(lease.position) + " " + lease.identity.components[3] +
              shower.grant(lease.grant) + "]";
    }
    return text;
  }
  std::string operator()(const store::HistoryResult& r) const {
    std::string text = shower.head(r.head) + (r.reached.empty() ? " to its end" : " in part");
    for (const core::LeaseRecord& one : r.records) text += " [" + record(one) + "]";
    return text;
  }
  std::string operator()(const store::ResolveResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status != store::Status::ok) return text;
    text += " now " + std::string(core::name(r.current_state)) + " was ";
    return text + std::visit(
                      [this](const auto& original) {
                        std::string was = status(original.head.status);
                        if constexpr (requires { original.grant; }) {
                          const bool ok = original.head.status == store::Status::ok;
                          if (ok) was += shower.grant(original.grant);
                        }
                        return was;
                      },
                      r.outcome);
  }
  std::string operator()(const store::SweepResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status == store::Status::ok) text += " ended " + std::to_string(r.ended);
    return text + (r.more ? " more" : "");
  }
  std::string operator()(const store::CommitResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status == store::Status::ok) {
      text += " at " + ms(r.accepted_at) + " with " + shower.token(r.token) + " revision " +
              std::to_string(r.revision);
      if (r.head.replayed) text += " now " + std::string(core::name(r.current_state));
    }
    if (r.head.status == store::Status::commit_conflict) {
      text += " at revision " + std::to_string(r.revision);
    }
    return text;
  }
  std::string operator()(const store::InvalidateResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status != store::Status::ok) return text;
    return text + " at " + ms(r.ended_at) + " " + r.lease_id.value + " " + shower.token(r.token);
  }
  std::string operator()(const store::DocumentResult& r) const {
    std::string text = shower.head(r.head);
    if (r.head.status != store::Status::ok) return text;
    const core::Document& d = r.document;
    return text + " " + std::string(core::name(d.content.type)) + " " + d.content.body +
           " revision " + std::to_string(d.revision) + " by " + d.lease_id.value + " " +
           shower.token(d.token) + " " + d.execution.value + " at " + ms(d.accepted_at) + " " +
           std::to_string(d.content.sequence) + " " + d.content.completed_execution.value + " " +
           ms(d.content.next_due);
  }
  std::string operator()(const store::GateResult& r) const { return gate(r.head, r.gate); }
  std::string operator()(const store::RecoverResult& r) const {
    if (r.head.status != store::Status::ok) return status(r.head.status);
    return gate(r.head, r.gate);
  }

 private:
  std::string record(const core::LeaseRecord& record) const {
    std::string text = shower.grant(record.grant) + " " + std::string(core::name(record.state)) +
                       " of " + record.owner.instance.value + " in " + shower.epoch(record.epoch);
    if (record.state == core::LeaseState::active) return text;
    return text + " since " + ms(record.ended_at) + " " + record.end_reason;
  }
  std::string gate(const store::Head& head, const store::Gate& gate) const {
    std::string text = status(head.status);
    if (head.status != store::Status::ok) return text;
    constexpr std::array<const char*, 4> states = {"serving", "closed", "absent", "corrupt"};
    text += std::string(" ") + states[static_cast<std::size_t>(gate.state)];
    if (gate.state == store::GateState::absent) return text;
    return text + (gate.on_this_server ? " here " : " elsewhere ") + shower.epoch(gate.epoch) +
           " grace until " + ms(gate.grace_until);
  }
};

std::string Shower::show(const Result& result) { return std::visit(ShowVisitor{*this}, result); }

}  // namespace starlease::conformance

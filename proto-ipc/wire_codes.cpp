// Codes; see the header.
#include "proto-ipc/wire_codes.hpp"

#include <type_traits>

namespace starlease::ipc {
namespace {

constexpr std::array<std::string_view, 14> success_names = {"hello",
                                                            "pong",
                                                            "goodbye",
                                                            "lease_acquired",
                                                            "lease_renewed",
                                                            "lease_released",
                                                            "lease_inspected",
                                                            "lease_resolved",
                                                            "lease_committed",
                                                            "lease_commit_authorized",
                                                            "lease_listed",
                                                            "lease_history",
                                                            "lease_force_released",
                                                            "lease_revoked"};

}  // namespace

std::string_view name(SuccessCode code) { return success_names[static_cast<std::size_t>(code)]; }

SuccessCode code_of(const core::Answer& answer) {
  struct Visitor {
    SuccessCode operator()(const core::HelloAnswer&) const { return SuccessCode::hello; }
    SuccessCode operator()(const core::GrantAnswer& grant) const {
      return grant.renewed ? SuccessCode::lease_renewed : SuccessCode::lease_acquired;
    }
    SuccessCode operator()(const core::ReleasedAnswer&) const {
      return SuccessCode::lease_released;
    }
    SuccessCode operator()(const core::InspectedAnswer&) const {
      return SuccessCode::lease_inspected;
    }
    SuccessCode operator()(const core::ResolvedAnswer&) const {
      return SuccessCode::lease_resolved;
    }
    SuccessCode operator()(const core::PongAnswer&) const { return SuccessCode::pong; }
    SuccessCode operator()(const core::GoodbyeAnswer&) const { return SuccessCode::goodbye; }
    SuccessCode operator()(const core::NamespaceAnswer&) const {
      return SuccessCode::lease_inspected;
    }
    SuccessCode operator()(const core::StatsAnswer&) const { return SuccessCode::lease_inspected; }
    SuccessCode operator()(const core::CommittedAnswer& committed) const {
      return committed.revision > 0 ? SuccessCode::lease_committed
                                    : SuccessCode::lease_commit_authorized;
    }
    SuccessCode operator()(const core::InvalidatedAnswer& ended) const {
      return ended.operation == core::Operation::revoke ? SuccessCode::lease_revoked
                                                        : SuccessCode::lease_force_released;
    }
    SuccessCode operator()(const core::DocumentAnswer&) const {
      return SuccessCode::lease_inspected;
    }
    SuccessCode operator()(const core::ListedAnswer&) const { return SuccessCode::lease_listed; }
    SuccessCode operator()(const core::HistoryAnswer&) const { return SuccessCode::lease_history; }
  };
  return std::visit(Visitor{}, answer);
}

std::optional<SuccessCode> parse_success_code(std::string_view text) {
  for (std::size_t i = 0; i < success_names.size(); ++i) {
    if (success_names[i] == text) return static_cast<SuccessCode>(i);
  }
  return std::nullopt;
}

std::optional<core::FailureCode> parse_failure_code(std::string_view text) {
  // The last code closes the set; core::name() knows each of them.
  for (int i = 0; i <= static_cast<int>(core::FailureCode::commit_conflict); ++i) {
    const auto code = static_cast<core::FailureCode>(i);
    if (core::name(code) == text) return code;
  }
  return std::nullopt;
}

}  // namespace starlease::ipc

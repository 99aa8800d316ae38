// Text and metadata of a call; see the header.
#include "lib/client/check_call.hpp"

#include <string>

#include "lib/base/utf8.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::client {
namespace {

Error refuse(std::string_view field, std::string message) {
  Error error;
  error.code = ErrorCode::invalid_lease_request;
  error.field = field;
  error.message = std::move(message);
  return error;
}

std::optional<Error> check_text(std::string_view field, std::string_view text) {
  if (base::utf8_valid(text)) return std::nullopt;
  return refuse(field, "The text is not valid UTF-8");
}

std::optional<Error> check_identity(const core::RawIdentity& identity) {
  for (std::size_t i = 0; i < core::component_count; ++i) {
    const auto& component = identity.components[i];
    if (!component) continue;
    auto error = check_text("identity." + std::string(core::component_names[i]), *component);
    if (error) return error;
  }
  return std::nullopt;
}

struct Checker {
  std::optional<Error> operator()(const core::HelloCall& call) const {
    const std::pair<std::string_view, std::string_view> texts[] = {
        {"client", call.client},
        {"credential", call.credential},
        {"service_instance_id", call.instance.value},
        {"resume", call.resume}};
    return all(texts);
  }
  std::optional<Error> operator()(const core::AcquireCall& call) const {
    if (auto error = check_identity(call.identity)) return error;
    const std::pair<std::string_view, std::string_view> texts[] = {
        {"request_id", call.request_id.value},
        {"execution_id", call.work.execution.value},
        {"job_id", call.work.job.value},
        {"trace_id", call.work.trace.value}};
    if (auto error = all(texts)) return error;
    ipc::JsonReader reader;
    if (reader.read(call.metadata)) return std::nullopt;
    return refuse("metadata", "The metadata is not the text of one JSON object");
  }
  std::optional<Error> operator()(const core::RenewCall& call) const { return lease(call); }
  std::optional<Error> operator()(const core::ReleaseCall& call) const { return lease(call); }
  std::optional<Error> operator()(const core::InspectCall& call) const {
    if (call.lease_id) return check_text("lease_id", call.lease_id->value);
    return call.identity ? check_identity(*call.identity) : std::nullopt;
  }
  std::optional<Error> operator()(const core::ResolveCall& call) const {
    if (auto error = check_identity(call.identity)) return error;
    return check_text("request_id", call.request_id.value);
  }
  std::optional<Error> operator()(const core::CommitCall& call) const {
    if (auto error = check_text("request_id", call.request_id.value)) return error;
    if (!call.write) return std::nullopt;
    const core::DocumentContent& content = call.write->content;
    if (auto error = check_text("name", content.name)) return error;
    if (auto error = check_text("completed_execution_id", content.completed_execution.value)) {
      return error;
    }
    ipc::JsonReader reader;
    if (reader.read(content.body)) return std::nullopt;
    return refuse("body", "The body is not the text of one JSON object");
  }
  std::optional<Error> operator()(const core::InvalidateCall& call) const {
    if (auto error = check_identity(call.identity)) return error;
    const std::pair<std::string_view, std::string_view> texts[] = {
        {"observed.lease_id", call.lease_id.value},
        {"request_id", call.request_id.value},
        {"reason", call.reason},
        {"signature.key_id", call.key_id},
        {"signature.value", call.signature}};
    return all(texts);
  }
  std::optional<Error> operator()(const core::DocumentCall& call) const {
    if (auto error = check_identity(call.identity)) return error;
    return check_text("name", call.name);
  }
  std::optional<Error> operator()(const core::ListCall& call) const {
    if (auto error = check_identity(call.target)) return error;
    if (call.owner) {
      if (auto error = check_text("owner_principal_id", call.owner->value)) return error;
    }
    return check_text("cursor", call.page.cursor.value_or(""));
  }
  std::optional<Error> operator()(const core::HistoryCall& call) const {
    if (auto error = check_identity(call.identity)) return error;
    return check_text("cursor", call.page.cursor.value_or(""));
  }
  std::optional<Error> operator()(const core::PingCall&) const { return std::nullopt; }
  std::optional<Error> operator()(const core::GoodbyeCall&) const { return std::nullopt; }
  std::optional<Error> operator()(const core::NamespaceCall&) const { return std::nullopt; }
  std::optional<Error> operator()(const core::StatsCall&) const { return std::nullopt; }

 private:
  template <class Texts>
  static std::optional<Error> all(const Texts& texts) {
    for (const auto& [field, text] : texts) {
      if (auto error = check_text(field, text)) return error;
    }
    return std::nullopt;
  }
  template <class LeaseCall>
  static std::optional<Error> lease(const LeaseCall& call) {
    if (auto error = check_text("lease_id", call.lease_id.value)) return error;
    return check_text("request_id", call.request_id.value);
  }
};

}  // namespace

std::optional<Error> check_call(const core::Call& call) { return std::visit(Checker{}, call); }

}  // namespace starlease::client

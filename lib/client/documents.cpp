// Client's fenced writes and what they left; see <starlease/client.hpp>.
#include <starlease/client.hpp>

#include "lib/client/answered.hpp"
#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"

namespace starlease {
namespace {

using client::as;

Error bad_envelope() {
  Error error;
  error.code = ErrorCode::invalid_lease_request;
  error.message = "Pass the envelope exactly as it was granted";
  error.field = "envelope";
  return error;
}

}  // namespace

Result<Commit> Client::commit(const std::string& envelope_json,
                              const std::optional<DocumentWrite>& write,
                              const CallOptions& options) {
  auto envelope = client::parse_envelope(envelope_json);
  if (!envelope) return bad_envelope();
  core::CommitCall call;
  call.envelope = *std::move(envelope);
  call.request_id =
      options.request_id.empty() ? engine_->new_request_id() : core::RequestId(options.request_id);
  if (write) call.write = client::core_write(*write);
  return as<core::CommittedAnswer>(engine_->call(std::move(call), options.timeout),
                                   client::public_commit);
}

Result<Commit> Client::commit(const Lease& lease, const std::optional<DocumentWrite>& write,
                              const CallOptions& options) {
  if (!lease || lease.lost()) return client::not_held();
  return commit(lease.envelope_json(), write, options);
}

Result<Document> Client::document(const Identity& identity, const std::string& name,
                                  std::chrono::milliseconds timeout) {
  core::DocumentCall call;
  call.identity = client::raw_identity(identity);
  call.name = name;
  return as<core::DocumentAnswer>(engine_->call(std::move(call), timeout), client::public_document);
}

}  // namespace starlease

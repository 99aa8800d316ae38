// history; see the header.
#include "lib/service/ops/history.hpp"

#include "lib/core/limits.hpp"
#include "lib/service/ops/page.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// A search through the partition's stream that is not done yet.
struct Search {
  SessionId session{};
  core::LockDigest digest;
  std::size_t page_size = 0;
  std::string before;
  CursorSeal cursor;
  BootTime enough_at;
  BootTime deadline;
  core::HistoryAnswer found;
  AnswerDone done;
};

void add(core::HistoryAnswer& found, std::vector<core::LeaseRecord>& records) {
  for (core::LeaseRecord& record : records) {
    core::InspectedAnswer& told = found.history.emplace_back();
    told.identity = std::move(record.identity);
    told.grant = std::move(record.grant);
    told.state = record.state;
    told.ended_at = record.ended_at;
    told.end_reason = std::move(record.end_reason);
  }
}

void go_on(Kernel& kernel, Search search);

void on_stretch(Kernel& kernel, Search search, const Session* session,
                store::HistoryResult& result) {
  if (result.head.status == Status::unknown) result.head.status = Status::unavailable;
  if (result.head.status != Status::ok) {
    return search.done(base::failed(failure_of(result.head)));
  }
  add(search.found, result.records);
  search.before = std::move(result.reached);
  const bool complete = search.before.empty() || search.found.history.size() >= search.page_size;
  if (!complete && session != nullptr && kernel.now() < search.enough_at) {
    return go_on(kernel, std::move(search));
  }
  if (!search.before.empty()) search.found.next_cursor = search.cursor.seal(search.before);
  search.done(std::move(search.found));
}

void go_on(Kernel& kernel, Search search) {
  const std::size_t missing = search.page_size - search.found.history.size();
  store::HistoryCommand command{search.digest, search.before,
                                std::min(missing, core::limits::endings_per_call)};
  const SessionId session = search.session;
  const std::uint32_t partition = kernel.partition(search.digest);
  const BootTime deadline = search.deadline;
  auto finish = [&kernel, search = std::move(search)](Session* owner,
                                                      store::HistoryResult& result) mutable {
    on_stretch(kernel, std::move(search), owner, result);
  };
  Submission<store::HistoryCommand, store::HistoryResult>::start(
      kernel, {session, partition, deadline, &store::LeaseStore::history, std::move(command),
               std::move(finish)});
}

}  // namespace

void history(Kernel& kernel, Session& session, const CallContext& context,
             const core::HistoryCall& call, AnswerDone done) {
  const auto identity = core::normalize(call.identity, kernel.settings.identities);
  if (!identity) return done(base::failed(identity.error()));
  if (!core::has_capability(*session.principal, core::Capability::audit_read) ||
      !core::in_scope(*session.principal, *identity)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const core::LockDigest digest = core::lock_digest(*identity);
  const std::array<std::string, 1> values = {core::lock_key(digest)};
  CursorSeal seal(kernel.seams.local_state.resume_key(), "history", session.owner.principal,
                  values);
  auto before = seal.open(call.page.cursor);
  if (!before) return done(base::failed(before.error()));
  go_on(kernel, {session.id,
                 digest,
                 page_size(kernel.settings, call.page),
                 std::move(*before),
                 std::move(seal),
                 enough_at(kernel.settings, context.received_at),
                 context.received_at + kernel.settings.policy.default_timeout,
                 {},
                 std::move(done)});
}

}  // namespace starlease::service

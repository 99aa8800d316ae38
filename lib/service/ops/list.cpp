// list; see the header. Each partition is a sorted source, read in stretches as far as is needed to
// tell which lease comes next of all.
#include "lib/service/ops/list.hpp"

#include <algorithm>
#include <deque>

#include "lib/core/limits.hpp"
#include "lib/service/ops/page.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// So many partitions are asked at once: a reader must not crowd out renewals.
constexpr std::size_t asked_at_once = 64;
/// Of each of many partitions, beyond its share of the page.
constexpr std::size_t spare = 4;

struct ListPlan {
  SessionId session{};
  const core::Principal& principal;
  core::ListFilter filter;
  std::size_t page_size = 0;
  /// Where the page begins.
  std::string after;
  CursorSeal cursor;
  BootTime enough_at;
  BootTime deadline;
};

class Listing final : public PendingOperation {
 public:
  Listing(Kernel& kernel, std::uint64_t number, ListPlan plan, AnswerDone done)
      : kernel_(kernel), number_(number), plan_(std::move(plan)), done_(std::move(done)) {
    const std::size_t count = kernel.seams.store.partition_count();
    sources_.resize(count, Source{{}, plan_.after, true});
    stretch_ = count == 1 ? plan_.page_size : 2 * plan_.page_size / count + spare;
    stretch_ = std::min(stretch_, core::limits::leases_per_list);
  }

  /// May free this object.
  void go_on() {
    while (in_flight_ < asked_at_once && next_ < sources_.size() && !stopped()) {
      if (is_dry(sources_[next_])) ask(next_);
      ++next_;
    }
    if (in_flight_ > 0) return;
    take();
    const bool complete = is_full() || std::ranges::none_of(sources_, is_dry);
    if (complete || stopped() || kernel_.now() >= plan_.enough_at) return finish();
    next_ = 0;
    stretch_ = std::min(2 * stretch_, core::limits::leases_per_list);
    go_on();
  }

  void session_gone() override { gone_ = true; }
  void store_may_serve() override {}
  [[nodiscard]] SessionId session() const override { return plan_.session; }

 private:
  /// What is known of one partition: leases not told yet, and how far it was read.
  struct Source {
    std::deque<store::ListedLease> leases;
    std::string reached;
    bool more = true;
  };

  /// Nothing can be told that lies behind what such a source has reached.
  static bool is_dry(const Source& source) { return source.more && source.leases.empty(); }
  [[nodiscard]] bool stopped() const { return gone_ || trouble_; }
  [[nodiscard]] bool is_full() const { return answer_.leases.size() >= plan_.page_size; }

  void ask(std::size_t partition) {
    ++in_flight_;
    auto then = [&kernel = kernel_, number = number_, partition](store::ListResult result) {
      static_cast<Listing*>(kernel.pending(number))->on_stretch(partition, result);
    };
    kernel_.seams.store.list({static_cast<std::uint32_t>(partition), plan_.filter,
                              sources_[partition].reached, stretch_},
                             plan_.deadline, std::move(then));
  }

  void on_stretch(std::size_t partition, store::ListResult& result) {
    --in_flight_;
    kernel_.recovery.observe(static_cast<std::uint32_t>(partition), result.head);
    if (result.head.status == Status::unknown) result.head.status = Status::unavailable;
    if (result.head.status != Status::ok) {
      if (!trouble_) trouble_ = failure_of(result.head);
      return go_on();
    }
    Source& source = sources_[partition];
    source.more = result.more;
    if (!result.reached.empty()) source.reached = std::move(result.reached);
    for (store::ListedLease& lease : result.leases) {
      if (!core::in_scope(plan_.principal, lease.identity)) continue;
      source.leases.push_back(std::move(lease));
    }
    go_on();
  }

  /// Where the first source ends of those that have to be read on; nothing if none has to.
  [[nodiscard]] const std::string* bound() const {
    const std::string* least = nullptr;
    for (const Source& source : sources_) {
      if (is_dry(source) && (least == nullptr || source.reached < *least)) least = &source.reached;
    }
    return least;
  }

  /// Moves into the answer what is certain to come next.
  void take() {
    while (!is_full()) {
      Source* first = nullptr;
      for (Source& source : sources_) {
        if (source.leases.empty()) continue;
        const bool earlier =
            first == nullptr || source.leases.front().position < first->leases.front().position;
        if (earlier) first = &source;
      }
      if (first == nullptr) return;
      store::ListedLease& lease = first->leases.front();
      const std::string* limit = bound();
      if (limit != nullptr && lease.position > *limit) return;
      passed_ = std::move(lease.position);
      core::InspectedAnswer& told = answer_.leases.emplace_back();
      told.identity = std::move(lease.identity);
      told.grant = std::move(lease.grant);
      told.state = core::LeaseState::active;
      first->leases.pop_front();
    }
  }

  void finish() {
    const bool more = std::ranges::any_of(
        sources_, [](const Source& source) { return source.more || !source.leases.empty(); });
    // A page that is not full goes on where the least known partition was left.
    if (const std::string* limit = bound(); limit != nullptr && !is_full()) passed_ = *limit;
    if (more && !is_full() && passed_ == plan_.after && !trouble_) {
      trouble_ = core::failure(FailureCode::deadline_exceeded);
    }
    AnswerDone done = std::move(done_);
    auto trouble = std::move(trouble_);
    if (gone_ && !trouble) trouble = core::failure(FailureCode::lease_backend_unavailable);
    if (more && !trouble) answer_.next_cursor = plan_.cursor.seal(passed_);
    core::ListedAnswer answer = std::move(answer_);
    kernel_.finished(number_);
    if (trouble) return done(base::failed(std::move(*trouble)));
    done(std::move(answer));
  }

  Kernel& kernel_;
  std::uint64_t number_;
  ListPlan plan_;
  AnswerDone done_;
  std::vector<Source> sources_;
  /// How many leases a partition is asked for; grows with each round.
  std::size_t stretch_ = 0;
  std::size_t next_ = 0;
  std::size_t in_flight_ = 0;
  core::ListedAnswer answer_;
  /// The position of the last lease told.
  std::string passed_ = plan_.after;
  std::optional<core::Failure> trouble_;
  bool gone_ = false;
};

/// The target's components as a whole identity, whose other parts mean nothing here.
core::Outcome<core::LockIdentity> normalized(const core::ListCall& call,
                                             const core::IdentityPolicy& policy) {
  core::RawIdentity whole = call.target;
  const std::size_t named = call.by == core::ListBy::target ? 4 : 2;
  for (std::size_t i = named; i < core::component_count; ++i) whole.components[i].reset();
  for (std::size_t i = named; i <= static_cast<std::size_t>(core::Component::actor_name); ++i) {
    whole.components[i] = "any";
  }
  whole.components[static_cast<std::size_t>(core::Component::operation_class)] =
      policy.operation_classes.front();
  auto identity = core::normalize(whole, policy);
  if (identity) return identity;
  core::Failure failure = std::move(identity.error());
  constexpr std::string_view prefix = "identity.";
  if (failure.field.starts_with(prefix)) failure.field.erase(0, prefix.size());
  return base::failed(std::move(failure));
}

core::Outcome<core::ListFilter> filter_of(const core::ListCall& call, const Session& session,
                                          const core::IdentityPolicy& policy) {
  core::ListFilter filter;
  filter.by = call.by;
  if (call.by == core::ListBy::owner) {
    filter.owner = call.owner.value_or(session.owner.principal);
    return filter;
  }
  const auto identity = normalized(call, policy);
  if (!identity) return base::failed(identity.error());
  filter.tenant_id = identity->components[0];
  filter.program_id = identity->components[1];
  if (call.by == core::ListBy::program) return filter;
  filter.target_namespace = identity->components[2];
  filter.target_id = identity->components[3];
  return filter;
}

bool is_allowed(const core::Principal& principal, const core::ListFilter& filter) {
  if (!core::has_capability(principal, core::Capability::targets_read)) return false;
  const bool of_another = filter.by == core::ListBy::owner && filter.owner != principal.id;
  return !of_another || core::has_capability(principal, core::Capability::audit_read);
}

}  // namespace

void list(Kernel& kernel, Session& session, const CallContext& context, const core::ListCall& call,
          AnswerDone done) {
  const auto filter = filter_of(call, session, kernel.settings.identities);
  if (!filter) return done(base::failed(filter.error()));
  if (!is_allowed(*session.principal, *filter)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const std::array<std::string, 6> values = {std::string(core::name(filter->by)),
                                             filter->owner.value,
                                             filter->tenant_id,
                                             filter->program_id,
                                             filter->target_namespace,
                                             filter->target_id};
  CursorSeal seal(kernel.seams.local_state.resume_key(), "list", session.owner.principal, values);
  auto after = seal.open(call.page.cursor);
  if (!after) return done(base::failed(after.error()));
  const std::uint64_t number = kernel.next_number();
  ListPlan plan{session.id,
                *session.principal,
                *filter,
                page_size(kernel.settings, call.page),
                std::move(*after),
                std::move(seal),
                enough_at(kernel.settings, context.received_at),
                context.received_at + kernel.settings.policy.default_timeout};
  auto owned = std::make_unique<Listing>(kernel, number, std::move(plan), std::move(done));
  Listing& listing = *owned;
  kernel.keep(number, std::move(owned));
  listing.go_on();
}

}  // namespace starlease::service

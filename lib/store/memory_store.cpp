// LeaseStore over a MemoryBackend: when a command is carried out and whether its answer comes; see
// the header.
#include "lib/store/memory_store.hpp"

#include "lib/core/times.hpp"

namespace starlease::store {

MemoryStore::MemoryStore(std::uint32_t partitions, const base::Clock& clock, base::Timers& timers,
                         BackendClock backend_clock)
    : clock_(clock), timers_(timers), backend_(partitions, std::move(backend_clock)) {
  backend_.on_notice([this](const Notice& notice) { tell(notice); });
}

MemoryStore::~MemoryStore() = default;

void MemoryStore::disconnect() {
  up_ = false;
  for (auto& [number, pending] : std::exchange(pending_, {})) pending.complete(Status::unknown);
  if (listener_ != nullptr) listener_->on_link(false);
}

void MemoryStore::connect() {
  up_ = true;
  if (listener_ != nullptr) listener_->on_link(true);
}

void MemoryStore::start(StoreListener& listener) {
  listener_ = &listener;
  const std::uint64_t number = ++last_number_;
  later_[number] = timers_.at(clock_.boot_now(), [this, number] {
    auto own = later_.extract(number);
    connect();
  });
}

void MemoryStore::tell(const Notice& notice) {
  const std::uint64_t number = ++last_number_;
  later_[number] = timers_.at(clock_.boot_now(), [this, number, notice] {
    auto own = later_.extract(number);
    if (up_) listener_->on_notice(notice);
  });
}

template <class Result>
void MemoryStore::run(BootTime deadline, Done<Result> done,
                      std::move_only_function<Result()> operation) {
  ++calls_;
  const std::uint64_t number = ++last_number_;
  const BootTime sent_at = clock_.boot_now();
  Pending& pending = pending_[number];
  pending.complete = [sent_at, done = std::move(done), operation = std::move(operation),
                      lose_reply =
                          std::exchange(lose_reply_, false)](std::optional<Status> failed) mutable {
    Result result;
    if (failed) {
      result.head.status = *failed;
    } else {
      result = operation();
      if (lose_reply) {
        result = {};
        result.head.status = Status::unknown;
      }
    }
    result.head.sent_at = sent_at;
    done(std::move(result));
  };
  std::optional<Status> verdict;
  BootTime when = sent_at;
  if (!up_) {
    verdict = Status::unavailable;
  } else if (sent_at >= deadline) {
    verdict = Status::deadline_exceeded;
  } else if (stalled_) {
    verdict = Status::unknown;
    when = deadline;
  }
  pending.timer = timers_.at(when, [this, number, verdict] {
    auto own = pending_.extract(number);
    if (own.empty()) return;
    own.mapped().complete(verdict);
  });
}

void MemoryStore::acquire(AcquireCommand command, BootTime deadline, Done<AcquireResult> done) {
  run<AcquireResult>(deadline, std::move(done),
                     [this, command = std::move(command)] { return backend_.acquire(command); });
}

void MemoryStore::renew_timed(std::vector<TimedRenewal> command, BootTime deadline,
                              Done<TimedRenewalsResult> done) {
  run<TimedRenewalsResult>(deadline, std::move(done), [this, command = std::move(command)] {
    return backend_.renew_timed(command);
  });
}

void MemoryStore::renew(RenewCommand command, BootTime deadline, Done<RenewResult> done) {
  run<RenewResult>(deadline, std::move(done),
                   [this, command = std::move(command)] { return backend_.renew(command); });
}

void MemoryStore::release(ReleaseCommand command, BootTime deadline, Done<ReleaseResult> done) {
  run<ReleaseResult>(deadline, std::move(done),
                     [this, command = std::move(command)] { return backend_.release(command); });
}

void MemoryStore::commit(CommitCommand command, BootTime deadline, Done<CommitResult> done) {
  run<CommitResult>(deadline, std::move(done),
                    [this, command = std::move(command)] { return backend_.commit(command); });
}

void MemoryStore::invalidate(InvalidateCommand command, BootTime deadline,
                             Done<InvalidateResult> done) {
  run<InvalidateResult>(deadline, std::move(done), [this, command = std::move(command)] {
    return backend_.invalidate(command);
  });
}

void MemoryStore::document(DocumentCommand command, BootTime deadline, Done<DocumentResult> done) {
  run<DocumentResult>(deadline, std::move(done),
                      [this, command = std::move(command)] { return backend_.document(command); });
}

void MemoryStore::inspect(InspectCommand command, BootTime deadline, Done<InspectResult> done) {
  run<InspectResult>(deadline, std::move(done),
                     [this, command = std::move(command)] { return backend_.inspect(command); });
}

void MemoryStore::resolve(ResolveCommand command, BootTime deadline, Done<ResolveResult> done) {
  run<ResolveResult>(deadline, std::move(done),
                     [this, command = std::move(command)] { return backend_.resolve(command); });
}

void MemoryStore::list(ListCommand command, BootTime deadline, Done<ListResult> done) {
  run<ListResult>(deadline, std::move(done),
                  [this, command = std::move(command)] { return backend_.list(command); });
}

void MemoryStore::history(HistoryCommand command, BootTime deadline, Done<HistoryResult> done) {
  run<HistoryResult>(deadline, std::move(done),
                     [this, command = std::move(command)] { return backend_.history(command); });
}

void MemoryStore::sweep(SweepCommand command, BootTime deadline, Done<SweepResult> done) {
  run<SweepResult>(deadline, std::move(done),
                   [this, command = std::move(command)] { return backend_.sweep(command); });
}

void MemoryStore::init_gate(InitGateCommand command, BootTime deadline, Done<GateResult> done) {
  run<GateResult>(deadline, std::move(done),
                  [this, command = std::move(command)] { return backend_.init_gate(command); });
}

void MemoryStore::read_gate(std::uint32_t index, BootTime deadline, Done<GateResult> done) {
  run<GateResult>(deadline, std::move(done), [this, index] { return backend_.read_gate(index); });
}

void MemoryStore::recover(RecoverCommand command, BootTime deadline, Done<RecoverResult> done) {
  run<RecoverResult>(deadline, std::move(done), [this, command = std::move(command)] {
    const auto wall = core::backend_time(clock_.wall_now().time_since_epoch().count());
    return backend_.recover(command, wall);
  });
}

}  // namespace starlease::store

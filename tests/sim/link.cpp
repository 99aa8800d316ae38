// Commands and answers on a connection that breaks; see the header.
#include "tests/sim/link.hpp"

namespace starlease::sim {

using base::BootTime;
using store::Status;

namespace {

store::TimedRenewalsResult pretended(const std::vector<store::TimedRenewal>& renewals,
                                     const Backend& backend) {
  store::TimedRenewalsResult result;
  result.head.status = Status::ok;
  result.head.now = backend.clock();
  for (const store::TimedRenewal& renewal : renewals) {
    result.results.push_back({Status::ok, backend.clock() + renewal.ttl, std::nullopt});
  }
  return result;
}

}  // namespace

Link::Link(EventQueue& queue, const Host& host, std::shared_ptr<Process> process, Backend& backend,
           Chance chance, const LinkFaults& faults)
    : queue_(queue),
      host_(host),
      process_(std::move(process)),
      backend_(backend),
      chance_(chance),
      faults_(faults) {
  backend_.join(*this);
}

Link::~Link() {
  alive_->now = false;
  backend_.leave(*this);
}

/// On a later event, in the daemon's process, if this link is still there.
template <class Act>
void Link::soon(Act act) {
  process_->enter_after(0ns, [alive = alive_, act = std::move(act)]() mutable {
    if (alive->now) act();
  });
}

Time Link::arrival(Time& last, Nanoseconds latency) {
  last = std::max(last, queue_.now() + latency);
  return last;
}

void Link::start(store::StoreListener& listener) {
  listener_ = &listener;
  connect_after(chance_.tail(1ms, 1s));
}

void Link::connect_after(Nanoseconds delay) {
  process_->enter_after(delay, [this, alive = alive_] {
    if (!alive->now || up_) return;
    if (!backend_.accepts()) return connect_after(chance_.span(20ms, 500ms));
    up_ = true;
    mute_ = false;
    ++connection_;
    last_request_ = last_reply_ = queue_.now();
    listener_->on_link(true);
  });
}

void Link::broke() {
  if (!std::exchange(up_, false)) return;
  ++connection_;
  for (auto& [number, pending] : std::exchange(pending_, {})) pending.fail(Status::unknown);
  listener_->on_link(false);
  connect_after(chance_.span(10ms, 800ms));
}

void Link::cut() {
  soon([this] { broke(); });
}

void Link::server_went_away() { cut(); }

void Link::notice(const store::Notice& notice) {
  if (!up_ || mute_ || chance_.happens(faults_.lose_notice)) return;
  const int times = chance_.happens(faults_.repeat_notice) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    process_->enter_after(chance_.tail(faults_.usual_latency, faults_.longest_latency),
                          [this, alive = alive_, notice] {
                            if (alive->now && up_) listener_->on_notice(notice);
                          });
  }
}

template <class Result>
void Link::run(bool writes, BootTime deadline, store::Done<Result> done,
               std::move_only_function<Result(Backend&)> operation) {
  const BootTime sent_at = host_.boot_now();
  const std::uint64_t number = ++last_number_;
  auto shared_done = std::make_shared<store::Done<Result>>(std::move(done));
  const auto complete = [sent_at, shared_done](Result result) {
    result.head.sent_at = sent_at;
    (*shared_done)(std::move(result));
  };
  const auto fail = [complete](Status status) {
    Result result;
    result.head.status = status;
    complete(std::move(result));
  };
  Pending& pending = pending_[number];
  pending.fail = fail;
  const auto give_up = [this, number](Status status) {
    auto own = pending_.extract(number);
    if (!own.empty()) own.mapped().fail(status);
  };
  if (!up_) return soon([give_up] { give_up(Status::unavailable); });
  if (sent_at >= deadline) return soon([give_up] { give_up(Status::deadline_exceeded); });
  pending.timer = process_->at(deadline, [give_up] { give_up(Status::unknown); });

  if (chance_.happens(faults_.break_before)) return cut();
  const bool break_after = chance_.happens(faults_.break_after);
  if (chance_.happens(faults_.swallow)) {
    mute_ = true;
    process_->enter_after(chance_.span(200ms, 4s), [this, alive = alive_, c = connection_] {
      if (alive->now && c == connection_) broke();
    });
  }
  const auto latency = [this] {
    return chance_.tail(faults_.usual_latency, faults_.longest_latency);
  };
  const Nanoseconds back =
      latency() + (chance_.happens(faults_.crawl) ? chance_.span(100ms, 5s) : 0ns);
  // `alive` and the connection's number decide what is still heard; the command itself is carried
  // out whatever has become of the daemon meanwhile.
  queue_.at(arrival(last_request_, latency()),
            [this, alive = alive_, connection = connection_, number, complete, back, break_after,
             writes, &backend = backend_, operation = std::move(operation),
             process = std::weak_ptr(process_)]() mutable {
              auto carry_out = [this, alive, connection, number, complete, back, break_after,
                                &backend, operation = std::move(operation),
                                process](bool served) mutable {
                Result result;
                result.head.status = Status::unavailable;
                if (served) result = operation(backend);
                if (!alive->now || connection != connection_) return;
                if (break_after) return cut();
                if (mute_) return;
                queue_.at(arrival(last_reply_, back), [this, alive, connection, number, complete,
                                                       process, result = std::move(result)] {
                  const auto daemon = process.lock();
                  if (daemon == nullptr) return;
                  daemon->enter([this, alive, connection, number, complete, result] {
                    if (!alive->now || connection != connection_) return;
                    if (!pending_.extract(number).empty()) complete(result);
                  });
                });
              };
              backend.command(std::move(carry_out), writes);
            });
}

void Link::acquire(store::AcquireCommand command, BootTime deadline,
                   store::Done<store::AcquireResult> done) {
  run<store::AcquireResult>(true, deadline, std::move(done),
                            [command = std::move(command)](Backend& backend) {
                              auto result = backend.rules().acquire(command);
                              for (Observer* o : backend.observers()) {
                                o->acquired(backend.now(), command, result);
                              }
                              return result;
                            });
}

void Link::renew_timed(std::vector<store::TimedRenewal> renewals, BootTime deadline,
                       store::Done<store::TimedRenewalsResult> done) {
  run<store::TimedRenewalsResult>(
      true, deadline, std::move(done),
      [renewals = std::move(renewals), lies = faults_.lies](Backend& backend) {
        if (lies) return pretended(renewals, backend);
        auto result = backend.rules().renew_timed(renewals);
        for (std::size_t i = 0; i < result.results.size(); ++i) {
          for (Observer* o : backend.observers()) {
            o->renewed(backend.now(), renewals[i].holder, result.results[i].status,
                       result.results[i].expires_at, result.head);
          }
        }
        return result;
      });
}

void Link::renew(store::RenewCommand command, BootTime deadline,
                 store::Done<store::RenewResult> done) {
  run<store::RenewResult>(true, deadline, std::move(done),
                          [command = std::move(command)](Backend& backend) {
                            auto result = backend.rules().renew(command);
                            for (Observer* o : backend.observers()) {
                              if (result.head.replayed) continue;
                              o->renewed(backend.now(), command.holder, result.head.status,
                                         result.current_expires_at, result.head);
                            }
                            return result;
                          });
}

void Link::release(store::ReleaseCommand command, BootTime deadline,
                   store::Done<store::ReleaseResult> done) {
  run<store::ReleaseResult>(true, deadline, std::move(done),
                            [command = std::move(command)](Backend& backend) {
                              auto result = backend.rules().release(command);
                              for (Observer* o : backend.observers()) {
                                o->released(backend.now(), command, result);
                              }
                              return result;
                            });
}

void Link::commit(store::CommitCommand command, BootTime deadline,
                  store::Done<store::CommitResult> done) {
  run<store::CommitResult>(true, deadline, std::move(done),
                           [command = std::move(command)](Backend& backend) {
                             auto result = backend.rules().commit(command);
                             for (Observer* o : backend.observers()) {
                               o->committed(backend.now(), command, result);
                             }
                             return result;
                           });
}

void Link::invalidate(store::InvalidateCommand command, BootTime deadline,
                      store::Done<store::InvalidateResult> done) {
  run<store::InvalidateResult>(true, deadline, std::move(done),
                               [command = std::move(command)](Backend& backend) {
                                 return backend.rules().invalidate(command);
                               });
}

void Link::document(store::DocumentCommand command, BootTime deadline,
                    store::Done<store::DocumentResult> done) {
  run<store::DocumentResult>(false, deadline, std::move(done),
                             [command = std::move(command)](Backend& backend) {
                               return backend.rules().document(command);
                             });
}

void Link::inspect(store::InspectCommand command, BootTime deadline,
                   store::Done<store::InspectResult> done) {
  run<store::InspectResult>(
      false, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().inspect(command); });
}

void Link::resolve(store::ResolveCommand command, BootTime deadline,
                   store::Done<store::ResolveResult> done) {
  run<store::ResolveResult>(
      false, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().resolve(command); });
}

void Link::list(store::ListCommand command, BootTime deadline,
                store::Done<store::ListResult> done) {
  run<store::ListResult>(
      false, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().list(command); });
}

void Link::history(store::HistoryCommand command, BootTime deadline,
                   store::Done<store::HistoryResult> done) {
  run<store::HistoryResult>(
      false, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().history(command); });
}

void Link::sweep(store::SweepCommand command, BootTime deadline,
                 store::Done<store::SweepResult> done) {
  run<store::SweepResult>(
      true, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().sweep(command); });
}

void Link::read_gate(std::uint32_t partition, BootTime deadline,
                     store::Done<store::GateResult> done) {
  run<store::GateResult>(false, deadline, std::move(done),
                         [partition](Backend& b) { return b.rules().read_gate(partition); });
}

void Link::init_gate(store::InitGateCommand command, BootTime deadline,
                     store::Done<store::GateResult> done) {
  run<store::GateResult>(
      true, deadline, std::move(done),
      [command = std::move(command)](Backend& b) { return b.rules().init_gate(command); });
}

void Link::recover(store::RecoverCommand command, BootTime deadline,
                   store::Done<store::RecoverResult> done) {
  const auto wall = core::backend_time(host_.wall_now().time_since_epoch().count());
  run<store::RecoverResult>(true, deadline, std::move(done),
                            [command = std::move(command), wall](Backend& backend) {
                              auto result = backend.rules().recover(command, wall);
                              for (Observer* o : backend.observers()) {
                                o->recovered(backend.now(), command.partition, result);
                              }
                              return result;
                            });
}

}  // namespace starlease::sim

// Lives of a daemon; see the header.
#include "tests/sim/daemon_host.hpp"

namespace starlease::sim {

namespace {

/// A connection in the socket's backlog: ended by the kernel if the process dies before it accepts.
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<Lane> to_worker) : to_worker_(std::move(to_worker)) {}
  Waiting(Waiting&&) = default;
  Waiting& operator=(Waiting&&) = delete;
  ~Waiting() {
    if (to_worker_) to_worker_->end(to_worker_);
  }
  void accepted() { to_worker_ = nullptr; }

 private:
  std::shared_ptr<Lane> to_worker_;
};

}  // namespace

DaemonHost::Life::Life(DaemonHost& host, std::uint64_t n)
    : number(n),
      process(std::make_shared<Process>(host.queue_, host.host_, host.chance_.fork(),
                                        host.plan_.timers_late)),
      link(host.queue_, host.host_, process, host.backend_, host.chance_.fork(), host.plan_.link),
      environment{{host.host_, *process, host.chance_, link, host, host, host}, workers, admins},
      daemon(std::make_unique<Daemon>(host.settings_, environment)) {}

DaemonHost::DaemonHost(EventQueue& queue, const Host& host, Backend& backend, Chance chance,
                       const Plan& plan, DaemonSettings settings, std::vector<Observer*>& observers,
                       std::uint64_t& last_number, std::function<void(std::string)> unreadable)
    : queue_(queue),
      host_(host),
      backend_(backend),
      chance_(chance),
      plan_(plan),
      settings_(std::move(settings)),
      observers_(observers),
      last_number_(last_number),
      unreadable_(std::move(unreadable)) {
  chance_.fill(key_);
}

DaemonHost::~DaemonHost() { end_life(); }

void DaemonHost::start() {
  const std::uint64_t number = ++last_number_;
  life_ = std::make_unique<Life>(*this, number);
  Life& life = *life_;
  life.process->on_turn([this, &life] {
    const base::BootTime now = host_.boot_now();
    life.daemon->turn(now);
    for (Observer* o : observers_) o->turned(queue_.now(), life.number, now);
  });
  life.process->enter([&life] { life.daemon->start(); });
  // The operator's word that the namespace is new holds for the first start only.
  settings_.service.recovery.init_namespace = false;
}

void DaemonHost::start_after(Nanoseconds down) {
  queue_.after(down, [this] {
    if (!life_) start();
  });
}

void DaemonHost::end_life() {
  if (!life_) return;
  life_->process->die();
  for (Observer* o : observers_) o->daemon_died(queue_.now(), life_->number);
  life_.reset();
}

void DaemonHost::crash(Nanoseconds down) {
  end_life();
  start_after(down);
}

void DaemonHost::drain(Nanoseconds down) {
  if (!life_ || std::exchange(life_->draining, true)) return;
  life_->process->enter([this, down, number = life_->number] {
    life_->daemon->drain([this, down, number] {
      // On a later event: this one is inside the daemon.
      queue_.after(1ms, [this, down, number] {
        if (life_ && life_->number == number) crash(down);
      });
    });
  });
}

Lanes DaemonHost::connect(std::uint64_t worker, Asked asked, bool admin) {
  Life& life = *life_;
  const Lanes lanes{std::make_shared<Lane>(queue_, chance_.fork(), plan_.pipe),
                    std::make_shared<Lane>(queue_, chance_.fork(), plan_.pipe)};
  const std::uint64_t connection = ++last_number_;
  auto tap = [this, daemon = life.number, connection, worker,
              asked = std::move(asked)](const std::string& frame) {
    const auto message = ipc::decode_message(std::string_view(frame).substr(4));
    if (!message) return unreadable_(message.error().message + ": " + frame.substr(4));
    const auto* reply = std::get_if<ipc::Reply>(&*message);
    const Written written{daemon,
                          connection,
                          worker,
                          host_.boot_now(),
                          reply == nullptr ? nullptr : asked(reply->id),
                          *message};
    for (Observer* o : observers_) o->wrote(queue_.now(), written);
  };
  auto gone = [this, connection] {
    for (Observer* o : observers_) o->hung_up(queue_.now(), connection);
  };
  constexpr base::PeerIdentity peer{1000, 1000, 1};
  life.process->enter([&life, waiting = Waiting(lanes.to_worker), lanes, this, peer, admin,
                       tap = std::move(tap), gone = std::move(gone)]() mutable {
    waiting.accepted();
    SimListener& listener = admin ? life.admins : life.workers;
    auto end = std::make_unique<DaemonEnd>(life.process, lanes.to_daemon, lanes.to_worker,
                                           plan_.pipe, peer, std::move(tap), std::move(gone));
    if (listener.listens()) listener.accept(std::move(end));
  });
  return lanes;
}

}  // namespace starlease::sim

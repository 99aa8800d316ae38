// Rings of PeerWatch around shared pidfds.
#include "daemon/uv/peer_watch.hpp"

#include <poll.h>

#include <chrono>
#include <cstring>

#include "daemon/uv/peer_credentials.hpp"
#include "lib/base/assert.hpp"

namespace starlease::uv {

struct PeerWatch::Process {
  explicit Process(PeerWatcher& owner) : watcher(owner) { ring.previous_ = ring.next_ = &ring; }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { ring.previous_ = ring.next_ = nullptr; }

  PeerWatcher& watcher;
  std::list<Process>::iterator place;
  std::int64_t pid = 0;
  OwnedFd pidfd;  // closed after `poll`
  Poll poll;
  PeerWatch ring{nullptr, nullptr};  // sentinel
};

void PeerWatch::link_before(PeerWatch& ring) {
  previous_ = ring.previous_;
  next_ = &ring;
  previous_->next_ = this;
  ring.previous_ = this;
}

void PeerWatch::unlink() {
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

void PeerWatch::stop() {
  if (next_ == nullptr) return;
  unlink();
  Process* process = std::exchange(process_, nullptr);
  if (process != nullptr && process->ring.next_ == &process->ring) {
    process->watcher.forget(*process);
  }
}

PeerWatcher::PeerWatcher(Loop& loop, base::Log& log, std::size_t max_processes)
    : loop_(loop), log_(log), max_processes_(max_processes), pacer_(std::chrono::minutes(1)) {}

PeerWatcher::~PeerWatcher() { SL_ASSERT(processes_.empty()); }

PeerWatcher::Outcome PeerWatcher::watch(PeerWatch& watch, int socket,
                                        const base::PeerIdentity& peer) {
  SL_ASSERT(!watch.active());
  Process* process = find_living(peer.pid);
  if (process == nullptr) {
    if (processes_.size() >= max_processes_) {
      tell_unwatched("bound on watched processes reached");
      return Outcome::unwatched;
    }
    PeerHandle opened = open_peer(socket, peer);
    if (opened.process == PeerProcess::gone) return Outcome::already_dead;
    if (opened.process == PeerProcess::unknowable) {
      tell_unwatched(std::strerror(opened.errno_value));
      return Outcome::unwatched;
    }
    process = &processes_.emplace_back(*this);
    process->place = std::prev(processes_.end());
    process->pid = peer.pid;
    process->pidfd = std::move(opened.pidfd);
    auto watched = process->poll.open(
        loop_, process->pidfd.get(),
        [](void* self, int, int) {
          auto& ended = *static_cast<Process*>(self);
          ended.watcher.on_death(ended);
        },
        process);
    if (!watched) {
      tell_unwatched(watched.error().message.c_str());
      processes_.pop_back();
      return Outcome::unwatched;
    }
    process->poll.want(UV_READABLE);
    // Number 0 stands for every process of a foreign PID namespace: not to be shared.
    if (peer.pid > 0) by_pid_[peer.pid] = process;
  }
  watch.process_ = process;
  watch.link_before(process->ring);
  return Outcome::watched;
}

std::size_t PeerWatcher::processes() const { return processes_.size(); }

/// The entry for `pid`, unless its process has ended unseen: then the number may be another's by
/// now.
PeerWatcher::Process* PeerWatcher::find_living(std::int64_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return nullptr;
  pollfd ended{.fd = found->second->pidfd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) == 0 ? found->second : nullptr;
}

void PeerWatcher::on_death(Process& process) {
  // The watches move to a ring of their own first: a callback may destroy any of them, and the
  // process is forgotten by then.
  PeerWatch dead(nullptr, nullptr);
  dead.previous_ = dead.next_ = &dead;
  for (PeerWatch* watch = process.ring.next_; watch != &process.ring;) {
    PeerWatch* following = watch->next_;
    watch->unlink();
    watch->process_ = nullptr;
    watch->link_before(dead);
    watch = following;
  }
  forget(process);
  while (dead.next_ != &dead) {
    PeerWatch& watch = *dead.next_;
    watch.unlink();
    watch.died_(watch.owner_);
  }
  dead.previous_ = dead.next_ = nullptr;
}

void PeerWatcher::forget(Process& process) {
  const auto found = by_pid_.find(process.pid);
  if (found != by_pid_.end() && found->second == &process) by_pid_.erase(found);
  processes_.erase(process.place);
}

void PeerWatcher::tell_unwatched(const char* why) {
  if (!pacer_.admit(loop_.clock().boot_now())) return;
  log_.warning(
      "peer process is not watched, only its connection",
      {{"why", why}, {"watched", processes_.size()}, {"held_back", pacer_.take_held_back()}});
}

}  // namespace starlease::uv

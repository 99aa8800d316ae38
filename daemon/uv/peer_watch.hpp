// Watches the processes behind connections for their end. One pidfd a process, shared by all of its
// connections, and a bound on their number: past it only the socket's own end is seen. Owned by
// Connections; outlives every PeerWatch on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "daemon/uv/log_pacer.hpp"
#include "daemon/uv/loop.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/poll.hpp"
#include "lib/base/log.hpp"
#include "lib/base/stream.hpp"

namespace starlease::uv {

class PeerWatcher;

/// One connection's interest, embedded in it. Destroying it ends the interest; then no call
/// follows.
class PeerWatch {
 public:
  using Died = void (*)(void* owner);

  PeerWatch(Died died, void* owner) : died_(died), owner_(owner) {}
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch() { stop(); }

  void stop();
  [[nodiscard]] bool active() const { return next_ != nullptr; }

 private:
  friend class PeerWatcher;
  struct Process;
  void link_before(PeerWatch& ring);
  void unlink();

  Died died_;
  void* owner_;
  Process* process_ = nullptr;  // null when not counted by one
  PeerWatch* previous_ = nullptr;
  PeerWatch* next_ = nullptr;
};

class PeerWatcher {
 public:
  enum class Outcome : std::uint8_t { watched, already_dead, unwatched };

  /// `max_processes` bounds the descriptors in use.
  PeerWatcher(Loop& loop, base::Log& log, std::size_t max_processes);
  PeerWatcher(const PeerWatcher&) = delete;
  PeerWatcher& operator=(const PeerWatcher&) = delete;
  ~PeerWatcher();

  /// Calls `watch` back once the process that connected `socket` has ended. `already_dead` and
  /// `unwatched` (bound reached, no descriptor, foreign PID namespace) give no call.
  [[nodiscard]] Outcome watch(PeerWatch& watch, int socket, const base::PeerIdentity& peer);

  /// Descriptors in use.
  [[nodiscard]] std::size_t processes() const;

 private:
  friend class PeerWatch;
  using Process = PeerWatch::Process;

  Process* find_living(std::int64_t pid);
  void on_death(Process& process);
  void forget(Process& process);
  void tell_unwatched(const char* why);

  Loop& loop_;
  base::Log& log_;
  std::size_t max_processes_;
  LogPacer pacer_;
  std::list<Process> processes_;
  std::unordered_map<std::int64_t, Process*> by_pid_;
};

}  // namespace starlease::uv

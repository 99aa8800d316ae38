// The one backend of a world: the rules (store::MemoryBackend) behind a server that stalls,
// refuses, dies, forgets, fails over and steps its clock.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "lib/store/memory_backend.hpp"
#include "tests/sim/chance.hpp"
#include "tests/sim/observer.hpp"

namespace starlease::sim {

/// What the server does with commands that reach it.
enum class Mood : std::uint8_t {
  serving,
  stalled,   // takes them and carries them out later
  refusing,  // BUSY, LOADING, READONLY: no effect
  full,      // OOM: refuses what writes
  down,      // nobody there
};

class Backend {
 public:
  /// A connection of a daemon to the server.
  class Client {
   public:
    virtual ~Client() = default;
    virtual void server_went_away() = 0;
    virtual void notice(const store::Notice& notice) = 0;
  };

  Backend(EventQueue& queue, std::uint32_t partitions, std::int64_t drift_ppm,
          Milliseconds clock_offset, std::vector<Observer*>& observers);

  [[nodiscard]] store::MemoryBackend& rules() { return rules_; }
  [[nodiscard]] const std::vector<Observer*>& observers() const { return observers_; }
  [[nodiscard]] Mood mood() const { return mood_; }
  [[nodiscard]] bool accepts() const { return mood_ != Mood::down; }
  [[nodiscard]] core::BackendTime clock() const;
  [[nodiscard]] Time now() const { return queue_.now(); }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }

  void join(Client& client) { clients_.push_back(&client); }
  void leave(Client& client) { std::erase(clients_, &client); }

  /// A command arrives. `carry_out` is called with false where the server refuses it.
  void command(std::move_only_function<void(bool)> carry_out, bool writes);

  void be(Mood mood);
  /// Its clock is off by so much from now on.
  void set_clock(Milliseconds offset);
  [[nodiscard]] Milliseconds clock_offset() const { return clock_offset_; }
  /// Remembers the data as of now, to come back to.
  void keep_copy() { copy_ = rules_.data(); }
  /// The process dies; its data stay, or those of the last copy are all that is left, or none.
  enum class Survives : std::uint8_t { everything, last_copy, nothing };
  void die(Survives survives);
  void come_back() { be(Mood::serving); }

 private:
  EventQueue& queue_;
  const std::int64_t drift_ppm_;
  Milliseconds clock_offset_;
  std::vector<Observer*>& observers_;
  store::MemoryBackend rules_;
  store::MemoryBackend::Data copy_;
  std::vector<Client*> clients_;
  std::deque<std::move_only_function<void(bool)>> waiting_;
  Mood mood_ = Mood::serving;
  std::uint64_t commands_ = 0;
};

}  // namespace starlease::sim

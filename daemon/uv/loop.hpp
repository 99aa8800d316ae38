// The one uv_loop of the process and the door into our code. Every libuv callback of ours enters
// through enter(), which lets the turn function look at the clock first: after SIGSTOP or a suspend
// the daemon finds its stalled leases before it does any other work. One thread.
#pragma once

#include <uv.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "daemon/uv/error.hpp"
#include "daemon/uv/handle.hpp"
#include "lib/base/clock.hpp"

namespace starlease::uv {

class Loop;

/// A call on the next turn of the loop, embedded in the object that wants it. Scheduling twice
/// gives one call; destroying it cancels. Costs no allocation.
class Deferred {
 public:
  using Call = void (*)(void* owner);

  Deferred(Loop& loop, Call call, void* owner) : loop_(loop), call_(call), owner_(owner) {}
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() { cancel(); }

  void schedule();
  void cancel();

 private:
  friend class Loop;
  Loop& loop_;
  Call call_;
  void* owner_;
  Deferred* previous_ = nullptr;
  Deferred* next_ = nullptr;  // null when not scheduled: the list is a ring with a sentinel
};

class Loop {
 public:
  using Turn = std::move_only_function<void(base::BootTime)>;

  /// `clock` outlives the loop. Errors: no_descriptors, system.
  [[nodiscard]] static Result<std::unique_ptr<Loop>> create(const base::Clock& clock);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// REQUIRES: everything that stood on the loop has been destroyed; a handle left open is a bug.
  ~Loop();

  /// `turn` runs before the work of each callback, with the boot time then.
  void on_turn(Turn turn) { turn_ = std::move(turn); }

  /// Runs `work` after the turn function. Within an entered callback it only runs `work`. The turn
  /// function may destroy anything: `work` checks with is_closing() that its handle is still open.
  template <class Work>
  void enter(Work&& work) {
    const Entry entry(*this);
    std::forward<Work>(work)();
  }

  /// The Loop that a handle's uv_loop_t belongs to.
  [[nodiscard]] static Loop& of(const uv_loop_t* raw) { return *static_cast<Loop*>(raw->data); }

  /// Turns until stop(), or until nothing is left that could call us.
  void run();
  /// One turn: waits for at least one event.
  void run_once();
  /// run() returns after the current turn.
  void stop();

  /// Calls `call` once on the next turn, in the order of these calls; dropped if the loop goes
  /// first.
  void defer(std::move_only_function<void()> call);

  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  /// For libraries that bring their own libuv handles (hiredis).
  [[nodiscard]] uv_loop_t* raw() { return &loop_; }
  /// Scratch space for one read, shared by all streams so that an idle connection keeps none.
  /// Valid until the next read: what is to be kept is copied before the callback returns.
  [[nodiscard]] std::span<std::byte> read_buffer() { return {read_buffer_.get(), read_bytes}; }

 private:
  friend class Deferred;
  static constexpr std::size_t read_bytes = 64UL * 1024;

  class Entry {
   public:
    explicit Entry(Loop& loop) : loop_(loop) {
      if (loop_.depth_++ == 0 && loop_.turn_) loop_.turn_(loop_.clock_.boot_now());
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { --loop_.depth_; }

   private:
    Loop& loop_;
  };

  explicit Loop(const base::Clock& clock);
  void wake_next_turn();
  void run_deferred();
  void run_calls();

  const base::Clock& clock_;
  uv_loop_t loop_{};
  bool open_ = false;
  int depth_ = 0;
  Turn turn_;
  std::unique_ptr<std::byte[]> read_buffer_;
  Handle<uv_idle_t> idle_;  // active while something is deferred: polling then does not block
  Deferred pending_;        // sentinel of the ring of scheduled calls
  Deferred calls_turn_;
  std::vector<std::move_only_function<void()>> calls_;
};

}  // namespace starlease::uv

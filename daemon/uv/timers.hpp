// base::Timers on one CLOCK_BOOTTIME timerfd: due times that passed while the machine was suspended
// fire at once on waking. One descriptor and one heap however many timers; arming and cancelling
// cost O(log n). Never fires early, never from inside at().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/uv/loop.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/poll.hpp"
#include "lib/base/timers.hpp"

namespace starlease::uv {

class Timers final : public base::Timers {
 public:
  /// `loop` outlives this. Errors: no_descriptors, system.
  [[nodiscard]] static Result<std::unique_ptr<Timers>> create(Loop& loop);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  /// REQUIRES: no timer that this has handed out is left.
  ~Timers() override;

  /// In order of `when`, and of arming where that is equal. A time that has passed queues behind
  /// what is already due, so that a timer which re-arms itself in the past starves nobody.
  [[nodiscard]] base::Timer at(base::BootTime when, std::move_only_function<void()> fire) override;

  /// How many timers are armed.
  [[nodiscard]] std::size_t armed() const { return heap_.size(); }

 private:
  class Armed;
  /// How many fire in one turn of the loop before its sockets have their turn again.
  static constexpr std::size_t fires_per_turn = 256;
  static constexpr base::BootTime never = base::BootTime::max();

  explicit Timers(Loop& loop) : loop_(loop) {}
  void on_expired();
  void collect_due(base::BootTime now);
  void arm_for_first();
  void set_alarm(base::BootTime when);

  void push(Armed& timer);
  void remove(Armed& timer);
  void place(std::size_t index, Armed* timer);
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);
  static bool earlier(const Armed& a, const Armed& b);

  Loop& loop_;
  OwnedFd fd_;
  Poll poll_;
  std::vector<Armed*> heap_;  // binary heap; each timer knows its index
  std::vector<Armed*> due_;   // taken off the heap in this turn; null once cancelled
  std::uint64_t sequence_ = 0;
  base::BootTime alarm_ = never;  // what the timerfd is set to
  base::BootTime last_seen_{};    // boot time of the latest dispatch
};

}  // namespace starlease::uv

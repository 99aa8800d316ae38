// The heap of armed timers and the timerfd that wakes it.
#include "daemon/uv/timers.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

#include "lib/base/assert.hpp"

namespace starlease::uv {

namespace {
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
}

class Timers::Armed final : public base::ArmedTimer {
 public:
  Armed(Timers& timers, base::BootTime when, std::uint64_t sequence,
        std::move_only_function<void()> fire)
      : timers_(timers), when_(when), sequence_(sequence), fire_(std::move(fire)) {}
  ~Armed() override {
    if (heap_index_ != nowhere) timers_.remove(*this);
    if (due_index_ != nowhere) timers_.due_[due_index_] = nullptr;
  }

 private:
  friend class Timers;
  Timers& timers_;
  base::BootTime when_;
  std::uint64_t sequence_;
  std::size_t heap_index_ = nowhere;
  std::size_t due_index_ = nowhere;
  std::move_only_function<void()> fire_;
};

Result<std::unique_ptr<Timers>> Timers::create(Loop& loop) {
  std::unique_ptr<Timers> timers(new Timers(loop));
  timers->fd_ = OwnedFd(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timers->fd_) return base::failed(system_error("cannot make the boot-time timer", errno));
  auto watched = timers->poll_.open(
      loop, timers->fd_.get(),
      [](void* self, int, int) { static_cast<Timers*>(self)->on_expired(); }, timers.get());
  if (!watched) return base::failed(std::move(watched.error()));
  timers->poll_.want(UV_READABLE);
  return timers;
}

Timers::~Timers() { SL_ASSERT(heap_.empty()); }

base::Timer Timers::at(base::BootTime when, std::move_only_function<void()> fire) {
  auto timer =
      std::make_unique<Armed>(*this, std::max(when, last_seen_), sequence_++, std::move(fire));
  push(*timer);
  if (timer->heap_index_ == 0) arm_for_first();
  return timer;
}

void Timers::on_expired() {
  last_seen_ = loop_.clock().boot_now();
  collect_due(last_seen_);
  for (std::size_t i = 0; i < due_.size(); ++i) {
    Armed* timer = due_[i];
    if (timer == nullptr) continue;
    timer->due_index_ = nowhere;
    // Moved out, because the callback may destroy its own timer.
    auto fire = std::move(timer->fire_);
    fire();
  }
  due_.clear();
  // Setting the alarm also takes the expiry off the descriptor, so it is not read. If more is due
  // the new alarm lies in the past and the loop comes back here after it has served its sockets.
  alarm_ = never;
  arm_for_first();
}

void Timers::collect_due(base::BootTime now) {
  while (!heap_.empty() && heap_[0]->when_ <= now && due_.size() < fires_per_turn) {
    Armed& timer = *heap_[0];
    remove(timer);
    timer.due_index_ = due_.size();
    due_.push_back(&timer);
  }
}

/// A cancelled first timer leaves its alarm: one idle wake-up is cheaper than a call per cancel.
void Timers::arm_for_first() {
  const bool dispatching = !due_.empty();
  if (dispatching) return;  // on_expired() arms once, at its end
  if (heap_.empty()) {
    if (alarm_ == never) set_alarm(never);
  } else if (heap_[0]->when_ < alarm_ || alarm_ == never) {
    set_alarm(heap_[0]->when_);
  }
}

void Timers::set_alarm(base::BootTime when) {
  itimerspec alarm{};
  if (when != never) {
    // All zero would disarm, and the kernel refuses negative times: both mean "long ago".
    const auto since_boot = std::max(when.time_since_epoch(), base::Nanoseconds(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    alarm.it_value.tv_sec = seconds.count();
    alarm.it_value.tv_nsec = (since_boot - seconds).count();
  }
  SL_ASSERT(timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &alarm, nullptr) == 0);
  alarm_ = when;
}

bool Timers::earlier(const Armed& a, const Armed& b) {
  return a.when_ != b.when_ ? a.when_ < b.when_ : a.sequence_ < b.sequence_;
}

void Timers::place(std::size_t index, Armed* timer) {
  heap_[index] = timer;
  timer->heap_index_ = index;
}

void Timers::push(Armed& timer) {
  heap_.push_back(&timer);
  timer.heap_index_ = heap_.size() - 1;
  sift_up(timer.heap_index_);
}

void Timers::remove(Armed& timer) {
  const std::size_t index = std::exchange(timer.heap_index_, nowhere);
  Armed* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  place(index, last);
  sift_up(index);
  sift_down(last->heap_index_);
}

void Timers::sift_up(std::size_t index) {
  Armed* timer = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!earlier(*timer, *heap_[parent])) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, timer);
}

void Timers::sift_down(std::size_t index) {
  Armed* timer = heap_[index];
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && earlier(*heap_[child + 1], *heap_[child])) ++child;
    if (!earlier(*heap_[child], *timer)) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, timer);
}

}  // namespace starlease::uv

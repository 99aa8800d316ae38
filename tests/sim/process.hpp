// A running program: its timers, and the rule that nothing happens in it while it is stopped or
// after it has died. What comes meanwhile waits, and happens at once when it goes on.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "lib/base/timers.hpp"
#include "tests/sim/host.hpp"

namespace starlease::sim {

class Process final : public base::Timers, public std::enable_shared_from_this<Process> {
 public:
  /// `late`: how late a timer may fire at most, beside the tail that every scheduler has.
  Process(EventQueue& queue, const Host& host, Chance chance, Nanoseconds late)
      : queue_(queue), host_(host), chance_(chance), late_(late) {}

  /// Called first at every wake-up.
  void on_turn(std::function<void()> turn) { turn_ = std::move(turn); }

  [[nodiscard]] base::Timer at(base::BootTime when, std::move_only_function<void()> fire) override {
    const Key key{when, ++last_};
    armed_.emplace(key, std::move(fire));
    wake_by(when);
    return std::make_unique<Armed>(weak_from_this(), key);
  }
  [[nodiscard]] std::size_t armed() const { return armed_.size(); }

  /// Something arrives for this program: now, when it goes on, or never.
  void enter(std::move_only_function<void()> entry) {
    if (dead_) return;
    if (stopped_) return backlog_.push_back(std::move(entry));
    if (turn_) turn_();
    if (!dead_) entry();
  }
  /// The same on a later event.
  void enter_after(Nanoseconds delay, std::move_only_function<void()> entry) {
    queue_.after(delay, [weak = weak_from_this(), entry = std::move(entry)]() mutable {
      if (const auto self = weak.lock()) self->enter(std::move(entry));
    });
  }

  /// SIGSTOP, a pause of the machine: time goes on, the program does not.
  void stop() {
    stopped_ = true;
    stopped_at_ = queue_.now();
  }
  void go_on() {
    if (!std::exchange(stopped_, false)) return;
    last_stop_ended_ = queue_.now();
    while (!backlog_.empty() && !stopped_ && !dead_) {
      auto entry = std::move(backlog_.front());
      backlog_.pop_front();
      enter(std::move(entry));
    }
  }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool dead() const { return dead_; }
  /// When the program last began to run after a stop; the world's beginning if it never stopped.
  [[nodiscard]] Time running_since() const { return last_stop_ended_; }

  /// Nothing happens in it any more.
  void die() {
    dead_ = true;
    backlog_.clear();
  }

 private:
  struct Key {
    base::BootTime when;
    std::uint64_t number;
    auto operator<=>(const Key&) const = default;
  };
  struct Armed final : base::ArmedTimer {
    Armed(std::weak_ptr<Process> p, const Key& k) : process(std::move(p)), key(k) {}
    ~Armed() override {
      if (const auto owner = process.lock()) owner->armed_.erase(key);
    }
    std::weak_ptr<Process> process;
    Key key;
  };

  void wake_by(base::BootTime when) {
    if (when == base::BootTime::max() || when >= next_wake_) return;
    next_wake_ = when;
    const Time due = std::max(host_.true_time(std::max(when, host_.boot_now())), queue_.now());
    queue_.at(due + chance_.tail(20us, late_), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->enter([self = self.get()] { self->fire_due(); });
      }
    });
  }
  void fire_due() {
    next_wake_ = base::BootTime::max();
    // Timers that the due ones arm for now fire on the next wake-up.
    const std::uint64_t newest = last_;
    while (!dead_ && !armed_.empty()) {
      const auto first = armed_.begin();
      if (first->first.when > host_.boot_now() || first->first.number > newest) break;
      auto node = armed_.extract(first);
      node.mapped()();
    }
    if (!dead_ && !armed_.empty()) wake_by(armed_.begin()->first.when);
  }

  EventQueue& queue_;
  const Host& host_;
  Chance chance_;
  Nanoseconds late_;
  std::function<void()> turn_;
  std::map<Key, std::move_only_function<void()>> armed_;
  std::uint64_t last_ = 0;
  base::BootTime next_wake_ = base::BootTime::max();
  std::deque<std::move_only_function<void()>> backlog_;
  bool stopped_ = false;
  bool dead_ = false;
  Time stopped_at_{};
  Time last_stop_ended_{};
};

}  // namespace starlease::sim

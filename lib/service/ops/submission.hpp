// One store command on behalf of a worker, repeated under the same idempotency key while its
// outcome is unknown and time remains. A repeat either finds what the first attempt did or does it
// once, so that a cut connection costs a worker time and nothing else. Contract "idempotency";
// design.md 8.
#pragma once

#include <functional>
#include <optional>

#include "lib/service/kernel.hpp"

namespace starlease::service {

template <class Command, class Result>
class Submission final : public PendingOperation {
 public:
  using Method = void (store::LeaseStore::*)(Command, BootTime, store::Done<Result>);
  /// Called once, with the session or null if it is gone.
  using Finish = std::move_only_function<void(Session*, Result&)>;

  struct Plan {
    SessionId session{};
    std::uint32_t partition = 0;
    BootTime deadline;
    Method method = nullptr;
    Command command;
    Finish finish;
  };

  /// Starts it; the kernel keeps it until it has finished.
  static void start(Kernel& kernel, Plan plan) {
    const std::uint64_t number = kernel.next_number();
    auto owned = std::unique_ptr<Submission>(new Submission(kernel, number, std::move(plan)));
    Submission& submission = *owned;
    kernel.keep(number, std::move(owned));
    submission.submit();
  }

  void session_gone() override { gone_ = true; }
  void store_may_serve() override {
    if (resting_) submit();
  }
  [[nodiscard]] SessionId session() const override { return plan_.session; }

 private:
  static constexpr Milliseconds repeat_after{50};

  Submission(Kernel& kernel, std::uint64_t number, Plan plan)
      : kernel_(kernel), number_(number), plan_(std::move(plan)) {}

  void submit() {
    resting_.reset();
    Command command = plan_.command;
    auto done = [&kernel = kernel_, number = number_](Result result) {
      static_cast<Submission*>(kernel.pending(number))->on_result(result);
    };
    (kernel_.seams.store.*plan_.method)(std::move(command), plan_.deadline, std::move(done));
  }

  void on_result(Result& result) {
    kernel_.recovery.observe(plan_.partition, result.head);
    const store::Status status = result.head.status;
    if (status == store::Status::unknown) maybe_done_ = true;
    const bool unanswered =
        status == store::Status::unknown || status == store::Status::unavailable ||
        status == store::Status::recovering || status == store::Status::deadline_exceeded;
    if (maybe_done_ && unanswered) {
      if (kernel_.now() < plan_.deadline && !gone_) return rest();
      result.head.status = store::Status::unknown;
    }
    Session* session = gone_ ? nullptr : kernel_.sessions.find(plan_.session);
    auto finish = std::move(plan_.finish);
    kernel_.finished(number_);
    finish(session, result);
  }

  void rest() {
    const BootTime wake = std::min(kernel_.now() + repeat_after, plan_.deadline);
    resting_ = kernel_.seams.timers.at(wake, [this] { submit(); });
  }

  Kernel& kernel_;
  std::uint64_t number_;
  Plan plan_;
  base::Timer resting_;
  bool maybe_done_ = false;
  bool gone_ = false;
};

}  // namespace starlease::service

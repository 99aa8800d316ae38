// Owner of the uv_loop: turning it, deferring work to the next turn, and closing it.
#include "daemon/uv/loop.hpp"

#include "lib/base/assert.hpp"

namespace starlease::uv {

void Deferred::schedule() {
  if (next_ != nullptr) return;
  Deferred& ring = loop_.pending_;
  previous_ = ring.previous_;
  next_ = &ring;
  previous_->next_ = this;
  ring.previous_ = this;
  loop_.wake_next_turn();
}

void Deferred::cancel() {
  if (next_ == nullptr) return;
  previous_->next_ = next_;
  next_->previous_ = previous_;
  next_ = previous_ = nullptr;
}

Result<std::unique_ptr<Loop>> Loop::create(const base::Clock& clock) {
  std::unique_ptr<Loop> loop(new Loop(clock));
  if (const int code = uv_loop_init(&loop->loop_); code != 0) {
    return base::failed(uv_error("cannot make the event loop", code));
  }
  loop->open_ = true;
  loop->loop_.data = loop.get();
  const int code =
      loop->idle_.open([&](uv_idle_t* idle) { return uv_idle_init(&loop->loop_, idle); });
  SL_ASSERT(code == 0);  // initialising an idle handle asks the kernel for nothing
  return loop;
}

Loop::Loop(const base::Clock& clock)
    : clock_(clock),
      read_buffer_(std::make_unique_for_overwrite<std::byte[]>(read_bytes)),
      pending_(*this, nullptr, nullptr),
      calls_turn_(*this, [](void* self) { static_cast<Loop*>(self)->run_calls(); }, this) {
  pending_.previous_ = pending_.next_ = &pending_;
}

Loop::~Loop() {
  calls_turn_.cancel();
  calls_.clear();
  SL_ASSERT(pending_.next_ == &pending_);
  idle_.close();
  if (!open_) return;
  // Close callbacks free the memory of handles; a library may close a second handle in the first
  // one's callback, hence a few turns and not one.
  constexpr int close_turns = 8;
  for (int i = 0; i < close_turns && uv_loop_alive(&loop_) != 0; ++i) {
    uv_run(&loop_, UV_RUN_NOWAIT);
  }
  SL_ASSERT(uv_loop_close(&loop_) == 0);
}

void Loop::run() { uv_run(&loop_, UV_RUN_DEFAULT); }

void Loop::run_once() { uv_run(&loop_, UV_RUN_ONCE); }

void Loop::stop() { uv_stop(&loop_); }

void Loop::defer(std::move_only_function<void()> call) {
  calls_.push_back(std::move(call));
  calls_turn_.schedule();
}

void Loop::wake_next_turn() {
  uv_idle_start(idle_.get(), [](uv_idle_t* idle) {
    Loop& loop = Loop::of(idle->loop);
    loop.enter([&] { loop.run_deferred(); });
  });
}

void Loop::run_deferred() {
  // Only what was scheduled before this turn runs in it: a mark in the ring keeps the rest for the
  // next one, so that work which schedules itself cannot keep the sockets waiting.
  Deferred mark(*this, nullptr, nullptr);
  mark.schedule();
  while (pending_.next_ != &mark) {
    Deferred& due = *pending_.next_;
    due.cancel();
    due.call_(due.owner_);
  }
  mark.cancel();
  if (pending_.next_ == &pending_) uv_idle_stop(idle_.get());
}

void Loop::run_calls() {
  auto calls = std::exchange(calls_, {});
  for (auto& call : calls) call();
}

}  // namespace starlease::uv

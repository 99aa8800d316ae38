// uv_poll_t behind Poll.
#include "daemon/uv/poll.hpp"

namespace starlease::uv {

Result<void> Poll::open(Loop& loop, int fd, Ready ready, void* owner) {
  const int code =
      handle_.open([&](uv_poll_t* poll) { return uv_poll_init(loop.raw(), poll, fd); });
  if (code != 0) return base::failed(uv_error("cannot watch a descriptor", code));
  handle_.get()->data = this;
  ready_ = ready;
  owner_ = owner;
  wanted_ = 0;  // it may have been open before
  return {};
}

void Poll::want(int events) {
  if (!handle_ || events == wanted_) return;
  wanted_ = events;
  const int code =
      events == 0 ? uv_poll_stop(handle_.get()) : uv_poll_start(handle_.get(), events, entry);
  SL_ASSERT(code == 0);
}

void Poll::entry(uv_poll_t* handle, int status, int events) {
  Loop::of(handle->loop).enter([&] {
    // The turn function may have destroyed the Poll; the handle's memory is still there to ask.
    if (is_closing(handle)) return;
    auto* self = static_cast<Poll*>(handle->data);
    if (status != 0) self->wanted_ = 0;
    self->ready_(self->owner_, status, events);
  });
}

}  // namespace starlease::uv

// hiredis on our loop; see the header.
#include "daemon/valkey/socket_watch.hpp"

#include <hiredis/async.h>

#include "daemon/valkey/tls.hpp"
#include "daemon/valkey/wiping_allocator.hpp"

namespace starlease::valkey {
namespace {

SocketWatch* watch_of(void* self) { return static_cast<SocketWatch*>(self); }

}  // namespace

SocketWatch::SocketWatch(uv::Loop& loop, redisAsyncContext& context)
    : context_(&context), flush_(loop, on_flush, this) {}

SocketWatch* SocketWatch::attach(uv::Loop& loop, redisAsyncContext& context) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): freed when hiredis says that it is done
  auto* watch = new SocketWatch(loop, context);
  if (!watch->poll_.open(loop, context.c.fd, on_ready, watch)) {
    delete watch;
    return nullptr;
  }
  context.ev.data = watch;
  context.ev.addRead = add_read;
  context.ev.delRead = del_read;
  context.ev.addWrite = add_write;
  context.ev.delWrite = del_write;
  context.ev.cleanup = cleanup;
  return watch;
}

void SocketWatch::want(int events) {
  if (context_ == nullptr) return;
  wanted_ = events;
  poll_.want(events);
}

void SocketWatch::add_read(void* self) {
  watch_of(self)->want(watch_of(self)->wanted_ | UV_READABLE);
}

void SocketWatch::del_read(void* self) {
  watch_of(self)->want(watch_of(self)->wanted_ & ~UV_READABLE);
}

void SocketWatch::add_write(void* self) {
  SocketWatch* watch = watch_of(self);
  if (watch->context_ == nullptr || (watch->wanted_ & UV_WRITABLE) != 0) return;
  const bool connected = (watch->context_->c.flags & REDIS_CONNECTED) != 0;
  if (!connected || watch->writing_) {
    watch->want(watch->wanted_ | UV_WRITABLE);
  } else {
    watch->flush_.schedule();
  }
}

void SocketWatch::del_write(void* self) {
  SocketWatch* watch = watch_of(self);
  watch->flush_.cancel();
  watch->want(watch->wanted_ & ~UV_WRITABLE);
}

void SocketWatch::read_and_write(int events) {
  forget_tls_errors();
  {
    const WipeScope wipe(secrets_);
    in_hiredis_ = true;
    if ((events & UV_READABLE) != 0) redisAsyncHandleRead(context_);
    // Reading may have freed the context, and then nothing is left to be written.
    if (context_ != nullptr && (events & UV_WRITABLE) != 0) {
      writing_ = true;
      redisAsyncHandleWrite(context_);
      writing_ = false;
    }
    in_hiredis_ = false;
  }
  if (context_ == nullptr) delete this;  // let go while we were still in use
}

void SocketWatch::on_ready(void* self, int status, int events) {
  // An error of the descriptor shows in whatever is tried next.
  watch_of(self)->read_and_write(status == 0 ? events : UV_READABLE | UV_WRITABLE);
}

void SocketWatch::on_flush(void* self) { watch_of(self)->read_and_write(UV_WRITABLE); }

void SocketWatch::cleanup(void* self) {
  SocketWatch* watch = watch_of(self);
  watch->context_ = nullptr;
  watch->poll_.close();
  watch->flush_.cancel();
  if (!watch->in_hiredis_) delete watch;
}

}  // namespace starlease::valkey

// Drives one hiredis context from the loop: our own small adapter in place of hiredis' one, which
// crashes when it cannot attach, runs timers on the wrong clock, and asks the kernel twice for each
// write. uv::Poll and uv::Deferred bring every callback through Loop::enter().
//
// Writes are made once at the start of the next turn, all commands of a turn together, and wait for
// the descriptor only where the kernel took less than all.
#pragma once

#include "daemon/uv/loop.hpp"
#include "daemon/uv/poll.hpp"

struct redisAsyncContext;

namespace starlease::valkey {

class SocketWatch {
 public:
  /// Attaches to `context`, which then owns the watch and frees it. Null if the loop takes no
  /// further descriptor: the context is as it was and may be freed.
  [[nodiscard]] static SocketWatch* attach(uv::Loop& loop, redisAsyncContext& context);

  /// No password is in the context's buffers any more: they need no wiping.
  void secrets_are_gone() { secrets_ = false; }
  [[nodiscard]] bool secrets() const { return secrets_; }

  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

 private:
  SocketWatch(uv::Loop& loop, redisAsyncContext& context);
  ~SocketWatch() = default;

  static void add_read(void* self);
  static void del_read(void* self);
  static void add_write(void* self);
  static void del_write(void* self);
  static void cleanup(void* self);
  static void on_ready(void* self, int status, int events);
  static void on_flush(void* self);
  void want(int events);
  void read_and_write(int events);

  /// Null once hiredis has let go.
  redisAsyncContext* context_;
  uv::Poll poll_;
  uv::Deferred flush_;
  int wanted_ = 0;
  bool in_hiredis_ = false;
  bool writing_ = false;
  bool secrets_ = true;
};

}  // namespace starlease::valkey

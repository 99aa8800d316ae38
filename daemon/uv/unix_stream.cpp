// Reading, writing and the ways in which a stream ends.
#include "daemon/uv/unix_stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "daemon/uv/peer_credentials.hpp"
#include "lib/base/assert.hpp"

namespace starlease::uv {
namespace {

/// Small writes are joined up to this size, so that the queue stays short.
constexpr std::size_t joined_bytes = 16UL * 1024;
/// Buffers given to the kernel in one call.
constexpr std::size_t buffers_per_send = 64;
/// Reads from a peer that is gone: more than a socket's buffer holds, and an end to a forked child
/// that keeps on writing.
constexpr int reads_when_gone = 16;

}  // namespace

Result<std::unique_ptr<UnixStream>> UnixStream::adopt(Connections& connections, OwnedFd socket) {
  auto peer = peer_identity(socket.get());
  if (!peer) return base::failed(std::move(peer.error()));
  std::unique_ptr<UnixStream> stream(new UnixStream(connections, std::move(socket), *peer));
  auto watched = stream->poll_.open(
      connections.loop(), stream->socket_.get(),
      [](void* self, int status, int events) {
        static_cast<UnixStream*>(self)->on_ready(status, events);
      },
      stream.get());
  if (!watched) return base::failed(std::move(watched.error()));
  return stream;
}

UnixStream::UnixStream(Connections& connections, OwnedFd socket, const base::PeerIdentity& peer)
    : connections_(connections),
      socket_(std::move(socket)),
      peer_(peer),
      next_turn_(
          connections.loop(), [](void* self) { static_cast<UnixStream*>(self)->on_turn(); }, this),
      watch_([](void* self) { static_cast<UnixStream*>(self)->drain_then_finish(); }, this) {
  ++connections_.open_;
}

UnixStream::~UnixStream() {
  close_socket();
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void UnixStream::start(base::StreamHandler& handler) {
  SL_ASSERT(handler_ == nullptr);
  handler_ = &handler;
  wait_for_events();
}

void UnixStream::pause_reading(bool paused) {
  paused_ = paused;
  wait_for_events();
}

void UnixStream::watch_peer() {
  if (!has_socket() || watch_.active() || peer_died_) return;
  const auto outcome = connections_.peers().watch(watch_, socket_.get(), peer_);
  if (outcome != PeerWatcher::Outcome::already_dead) return;
  peer_died_ = true;
  next_turn_.schedule();
}

void UnixStream::on_ready(int status, int events) {
  if (!has_socket()) return;
  if (status != 0) return drain_then_finish();  // the peer reset the connection
  if ((events & UV_WRITABLE) != 0 && !flush()) return;
  if (state_ == State::open && !paused_) return read_once();
  if ((events & UV_DISCONNECT) != 0 || events == 0) finish();
}

void UnixStream::on_turn() {
  if (state_ == State::closing) return finish();
  if (!has_socket()) return;
  if (peer_died_) return drain_then_finish();
  static_cast<void>(flush());
}

void UnixStream::read_once() {
  const auto buffer = connections_.loop().read_buffer();
  const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) {
    handler_->on_bytes(buffer.first(static_cast<std::size_t>(got)));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    finish();
  }
}

/// The peer is gone, but what it sent before may still lie in the socket: a release, for instance.
void UnixStream::drain_then_finish() {
  bool destroyed = false;
  destroyed_ = &destroyed;
  const auto buffer = connections_.loop().read_buffer();
  for (int i = 0; i < reads_when_gone && state_ == State::open && !paused_; ++i) {
    if (handler_ == nullptr) break;
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    handler_->on_bytes(buffer.first(static_cast<std::size_t>(got)));
    if (destroyed) return;
  }
  destroyed_ = nullptr;
  if (has_socket()) finish();
}

/// Ends the stream from within a callback of the loop. Last use of this object: on_closed() may
/// have destroyed it.
void UnixStream::finish() {
  close_socket();
  state_ = State::closed;
  if (handler_ != nullptr) handler_->on_closed();
}

void UnixStream::close() {
  if (!has_socket()) return;
  close_socket();
  state_ = State::closing;
  next_turn_.schedule();
}

void UnixStream::close_after_flush() {
  if (state_ != State::open) return;
  if (queue_.empty()) return close();
  state_ = State::flushing;
  wait_for_events();
  const auto deadline = connections_.loop().clock().boot_now() + connections_.limits().flush_wait;
  flush_deadline_ = connections_.timers().at(deadline, [this] { finish(); });
}

void UnixStream::end_writing() {
  if (state_ != State::open) return;
  ending_ = true;
  next_turn_.schedule();
}

void UnixStream::close_socket() {
  if (!socket_) return;
  poll_.close();
  socket_.reset();
  watch_.stop();
  flush_deadline_.reset();
  next_turn_.cancel();
  queue_ = {};
  queued_bytes_ = first_sent_ = 0;
  --connections_.open_;
}

bool UnixStream::write(std::string bytes) {
  if (!has_socket() || ending_ || bytes.empty()) return true;
  const std::size_t bound = connections_.limits().outbound_bytes;
  const auto passes_bound = [&] { return bytes.size() > bound - std::min(bound, queued_bytes_); };
  if (passes_bound()) {
    // Much was written in one turn: a peer that reads must not pay for that.
    if (send_queued() == Sent::failed) {
      close();
      return true;
    }
    if (passes_bound()) return false;
  }
  append(std::move(bytes));
  if (!blocked_) next_turn_.schedule();
  return true;
}

void UnixStream::append(std::string bytes) {
  queued_bytes_ += bytes.size();
  if (!queue_.empty() && queue_.back().size() + bytes.size() <= joined_bytes) {
    queue_.back() += bytes;
  } else {
    queue_.push_back(std::move(bytes));
  }
}

UnixStream::Sent UnixStream::send_queued() {
  while (!queue_.empty()) {
    std::array<iovec, buffers_per_send> buffers{};
    const std::size_t count = std::min(queue_.size(), buffers.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t skipped = i == 0 ? first_sent_ : 0;
      buffers[i] = {queue_[i].data() + skipped, queue_[i].size() - skipped};
    }
    msghdr message{};
    message.msg_iov = buffers.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return Sent::blocked;
    if (sent < 0) return Sent::failed;
    drop_sent(static_cast<std::size_t>(sent));
  }
  return Sent::all;
}

void UnixStream::drop_sent(std::size_t bytes) {
  queued_bytes_ -= bytes;
  bytes += first_sent_;
  std::size_t whole = 0;
  while (whole < queue_.size() && bytes >= queue_[whole].size()) bytes -= queue_[whole++].size();
  first_sent_ = bytes;
  if (whole == queue_.size()) {
    queue_ = {};  // an idle connection keeps no memory
  } else {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(whole));
  }
}

/// Sends what it can. Called from callbacks of the loop only, since it may end the stream: false
/// then, and this object may be gone.
bool UnixStream::flush() {
  const Sent sent = send_queued();
  if (sent == Sent::failed) {
    drain_then_finish();
    return false;
  }
  blocked_ = sent == Sent::blocked;
  if (!blocked_ && state_ == State::flushing) {
    finish();
    return false;
  }
  if (!blocked_ && ending_) ::shutdown(socket_.get(), SHUT_WR);
  wait_for_events();
  return true;
}

void UnixStream::wait_for_events() {
  if (!has_socket() || handler_ == nullptr) return;
  int events = UV_DISCONNECT;
  if (state_ == State::open && !paused_) events |= UV_READABLE;
  if (blocked_) events |= UV_WRITABLE;
  poll_.want(events);
}

}  // namespace starlease::uv

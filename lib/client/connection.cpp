// Sockets and frames; see the header.
#include "lib/client/connection.hpp"

#include <array>
#include <cerrno>
#include <span>

namespace starlease::client {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;

}  // namespace

Connection::Attempt Connection::open(const SocketAddress& address) {
  close();
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return Attempt::refused;
  const auto* where = reinterpret_cast<const sockaddr*>(&address.value);
  if (::connect(socket.get(), where, address.length) != 0) {
    return errno == EAGAIN || errno == EINTR ? Attempt::busy : Attempt::refused;
  }
  socket_ = std::move(socket);
  return Attempt::connected;
}

void Connection::close() {
  socket_.reset();
  decoder_ = ipc::FrameDecoder(ipc::default_max_frame_bytes);
  frame_limit_ = ipc::default_max_frame_bytes;
  output_.clear();
  sent_ = 0;
}

void Connection::limit_frames(std::size_t max_frame_bytes) {
  frame_limit_ = max_frame_bytes;
  decoder_.set_max_frame_bytes(max_frame_bytes);
}

bool Connection::send(std::string_view payload) {
  if (output_.size() - sent_ + payload.size() > outbound_bytes) return false;
  ipc::append_frame(output_, payload);
  return true;
}

bool Connection::flush() {
  while (has_output()) {
    const ssize_t size = ::send(socket_.get(), output_.data() + sent_, output_.size() - sent_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EINTR) continue;
      const bool blocked = errno == EAGAIN || errno == EWOULDBLOCK;
      output_.erase(0, std::exchange(sent_, 0));
      return blocked;
    }
    sent_ += static_cast<std::size_t>(size);
  }
  // Nothing is kept between bursts.
  output_.clear();
  sent_ = 0;
  return true;
}

Connection::Input Connection::receive(std::vector<std::string>& payloads) {
  std::array<std::byte, read_bytes> bytes;
  while (true) {
    const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Input::drained : Input::closed;
    }
    if (size == 0) return Input::closed;
    decoder_.feed(std::span(bytes).first(static_cast<std::size_t>(size)));
    while (true) {
      const auto payload = decoder_.next();
      if (!payload) return Input::broken_framing;
      if (!*payload) break;
      payloads.emplace_back(**payload);
    }
    // A short read means that nothing more was there.
    if (static_cast<std::size_t>(size) < bytes.size()) return Input::drained;
  }
}

}  // namespace starlease::client

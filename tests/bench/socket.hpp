// A blocking Unix stream socket with a read buffer. Ends the program on any error: a probe that
// cannot measure has nothing to say.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace starlease::bench {

[[noreturn]] inline void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  explicit Socket(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) give_up("path too long");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      give_up("connect");
    }
  }
  Socket(Socket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        buffer_(std::move(other.buffer_)),
        start_(other.start_) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) give_up("send");
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  /// What has been read and not taken; valid until more() or the next take().
  [[nodiscard]] std::string_view unread() const { return std::string_view(buffer_).substr(start_); }
  void take(std::size_t size) {
    start_ += size;
    if (start_ == buffer_.size()) {
      buffer_.clear();
      start_ = 0;
    }
  }
  /// Waits for more bytes.
  void more() {
    buffer_.erase(0, std::exchange(start_, 0));
    std::array<char, 65536> piece;
    const ssize_t size = ::recv(fd_, piece.data(), piece.size(), 0);
    if (size <= 0) give_up("recv");
    buffer_.append(piece.data(), static_cast<std::size_t>(size));
  }

 private:
  int fd_;
  std::string buffer_;
  std::size_t start_ = 0;
};

}  // namespace starlease::bench

// A file descriptor that is closed when its owner goes. Never shared, never duplicated.
#pragma once

#include <unistd.h>

#include <utility>

namespace starlease::uv {

class OwnedFd {
 public:
  OwnedFd() = default;
  /// Takes over `fd`; a negative one means "none".
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  /// Gives the duty to close away.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset() {
    // EINTR too means that Linux has closed it: asking again could close somebody else's.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace starlease::uv

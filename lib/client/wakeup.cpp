// epoll and timerfd; see the header.
#include "lib/client/wakeup.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace starlease::client {
namespace {

Error no_descriptors() {
  Error error;
  error.code = ErrorCode::no_daemon;
  error.message = std::string("No descriptor could be opened: ") + std::strerror(errno);
  return error;
}

}  // namespace

Result<Wakeup> Wakeup::make() {
  Wakeup wakeup;
  wakeup.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!wakeup.epoll_) return no_descriptors();
  wakeup.timer_ = UniqueFd(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!wakeup.timer_) return no_descriptors();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wakeup.timer_.get();
  if (::epoll_ctl(wakeup.epoll_.get(), EPOLL_CTL_ADD, wakeup.timer_.get(), &event) != 0) {
    return no_descriptors();
  }
  return wakeup;
}

void Wakeup::watch(int fd, bool write) {
  if (fd == watched_ && write == watching_write_) return;
  epoll_event event{};
  event.events = EPOLLIN;
  if (write) event.events |= EPOLLOUT;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), fd == watched_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  watched_ = fd;
  watching_write_ = write;
}

void Wakeup::arm(std::optional<BootTime> when) {
  // Setting the time also takes back an expiry that was not read, so the timer is never read.
  const bool passed = armed_ && *armed_ <= boot_now();
  if (when == armed_ && !passed) return;
  armed_ = when;
  itimerspec spec{};
  if (when) {
    // Zero would disarm it.
    const std::int64_t at = std::max<std::int64_t>(1, nanoseconds_of(*when));
    spec.it_value.tv_sec = at / 1'000'000'000;
    spec.it_value.tv_nsec = at % 1'000'000'000;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Wakeup::wait(Milliseconds timeout) const {
  pollfd item{};
  item.fd = epoll_.get();
  item.events = POLLIN;
  // A signal ends the wait early; the caller looks at its own clock.
  ::poll(&item, 1, static_cast<int>(std::clamp<std::int64_t>(timeout.count(), 0, 3'600'000)));
}

}  // namespace starlease::client

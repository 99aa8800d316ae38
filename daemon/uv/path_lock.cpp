// flock on a file that may be unlinked under us.
#include "daemon/uv/path_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>

namespace starlease::uv {
namespace {

std::string_view first_line(int file, std::span<char> space) {
  const ssize_t got = ::pread(file, space.data(), space.size(), 0);
  const std::string_view text(space.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

/// For people and for the message of who is refused; nothing decides by it.
void write_holder(int file) {
  const std::string holder = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0) return;
  static_cast<void>(::pwrite(file, holder.data(), holder.size(), 0) == 0);
}

}  // namespace

Result<PathLock> PathLock::acquire(const std::string& socket_path) {
  return take(socket_path + ".lock");
}

Result<PathLock> PathLock::take(std::string lock_path) {
  // A holder that stops unlinks its file: whoever then locks the nameless one tries again.
  constexpr int attempts = 16;
  for (int i = 0; i < attempts; ++i) {
    OwnedFd file(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) {
      return base::failed(system_error(
          fmt::format("cannot open {} (its folder must exist and be writable)", lock_path), errno));
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) {
        return base::failed(system_error(fmt::format("cannot lock {}", lock_path), errno));
      }
      std::array<char, 32> space{};
      return base::failed(
          Error{ErrorKind::in_use, EADDRINUSE,
                fmt::format("{} is held by the running process {}; stop it or use another path",
                            lock_path, first_line(file.get(), space))});
    }
    struct stat opened{};
    if (::fstat(file.get(), &opened) != 0) {
      return base::failed(system_error(fmt::format("cannot look at {}", lock_path), errno));
    }
    const FileId id{opened.st_dev, opened.st_ino};
    if (!still_names(lock_path, id)) continue;
    write_holder(file.get());
    return PathLock(std::move(lock_path), std::move(file), id);
  }
  return base::failed(Error{ErrorKind::in_use, EADDRINUSE,
                            fmt::format("{} keeps being replaced; another process is starting and "
                                        "stopping there",
                                        lock_path)});
}

PathLock::~PathLock() {
  if (file_ && still_names(path_, id_)) ::unlink(path_.c_str());
}

Result<void> PathLock::keep() {
  if (still_names(path_, id_)) return {};
  auto fresh = take(path_);
  if (!fresh) return base::failed(std::move(fresh.error()));
  file_ = std::move(fresh->file_);
  id_ = fresh->id_;
  return {};
}

}  // namespace starlease::uv

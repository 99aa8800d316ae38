// Bounded file reading; see the header.
#include "daemon/config/read_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace starlease::config {
namespace {

/// Checks what was opened, not what the path meant a moment ago.
std::string unfit(int fd, std::size_t max_bytes, Privacy privacy) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (static_cast<std::size_t>(status.st_size) > max_bytes) {
    return fmt::format("is larger than {} bytes", max_bytes);
  }
  if (privacy == Privacy::secret && (status.st_mode & 0027) != 0) {
    return fmt::format(
        "has mode {:04o}; others must not read it nor the group write it: chmod 0600",
        status.st_mode & 07777);
  }
  return {};
}

}  // namespace

base::Result<std::string, std::string> read_file(const std::string& path, std::size_t max_bytes,
                                                 Privacy privacy) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return base::failed(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string problem = unfit(fd, max_bytes, privacy);
  std::string bytes(max_bytes + 1, '\0');
  std::size_t used = 0;
  while (problem.empty() && used < bytes.size()) {
    const ssize_t count = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (count == 0) break;
    if (count > 0) used += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) problem = std::strerror(errno);
  }
  ::close(fd);
  if (!problem.empty()) return base::failed(std::move(problem));
  if (used > max_bytes) return base::failed(fmt::format("is larger than {} bytes", max_bytes));
  bytes.resize(used);
  return bytes;
}

}  // namespace starlease::config

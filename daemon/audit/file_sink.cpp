// The audit file; see the header.
#include "daemon/audit/file_sink.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/audit/encode.hpp"

namespace starlease::audit {

base::Result<std::unique_ptr<FileSink>, std::string> FileSink::open(FileSettings settings,
                                                                    base::Log& log) {
  const std::string path = settings.path;
  std::unique_ptr<FileSink> sink(new FileSink(std::move(settings), log));
  const int error = sink->reopen();
  if (error != 0) return base::failed(path + ": " + std::strerror(error));
  return sink;
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileSink::record(const core::AuditEvent& event) {
  const std::string line = encode(event) + "\n";
  int error = 0;
  if (descriptor_ < 0) error = reopen();
  if (error == 0 && size_ > 0 &&
      size_ + static_cast<std::int64_t>(line.size()) > settings_.rotate_bytes) {
    error = rotate();
  }
  if (error == 0) error = append(line);
  if (error != 0) return failed(error);
  if (lost_ > 0) {
    log_.warning("audit file is written again", {{"events_lost", std::exchange(lost_, 0)}});
  }
}

int FileSink::reopen() {
  // O_NONBLOCK: opening a FIFO must not wait for its reader; it is refused below.
  descriptor_ =
      ::open(settings_.path.c_str(),
             O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
             S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) return errno;
  struct stat status{};
  int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(status.st_mode)) error = EINVAL;
  if (error != 0) ::close(std::exchange(descriptor_, -1));
  size_ = status.st_size;
  return error;
}

int FileSink::rotate() {
  const auto numbered = [this](int n) { return settings_.path + "." + std::to_string(n); };
  for (int n = settings_.rotate_count - 1; n >= 1; --n) {
    // A gap in the row is no error.
    if (std::rename(numbered(n).c_str(), numbered(n + 1).c_str()) != 0 && errno != ENOENT) {
      return errno;
    }
  }
  if (std::rename(settings_.path.c_str(), numbered(1).c_str()) != 0 && errno != ENOENT)
    return errno;
  ::close(std::exchange(descriptor_, -1));
  return reopen();
}

int FileSink::append(const std::string& line) {
  const std::string bytes = torn_ ? "\n" + line : line;
  ssize_t written = 0;
  do {
    written = ::write(descriptor_, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  size_ += written;
  torn_ = written != static_cast<ssize_t>(bytes.size());
  return torn_ ? ENOSPC : 0;
}

/// Told when it begins and at each thousandth, so that a full disk is not filled with its own news.
void FileSink::failed(int error) {
  if (lost_++ % 1000 == 0) {
    log_.error("audit event not written",
               {{"error", std::string_view(std::strerror(error))}, {"events_lost", lost_}});
  }
}

}  // namespace starlease::audit

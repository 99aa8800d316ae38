// The state directory; see the header. Files: lock, resume.key (32 bytes and their SHA-256),
// partitions (text, see encode_memory).
#include "daemon/state_dir.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace starlease {
namespace {

constexpr const char* lock_file = "lock";
constexpr const char* key_file = "resume.key";
constexpr const char* partitions_file = "partitions";
/// 4096 partitions of at most 50 bytes each, and room.
constexpr std::size_t max_state_bytes = 1 << 20;

StateDirFailure io_failure(const std::string& path, int error) {
  return {StateDirError::io, fmt::format("state directory {}: {}", path, std::strerror(error))};
}

/// Makes and opens the directory; it must be ours and closed to others, since it holds a key.
base::Result<uv::OwnedFd, StateDirFailure> open_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return base::failed(io_failure(path, errno));
  uv::OwnedFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return base::failed(io_failure(path, errno));
  struct stat status{};
  const bool known = ::fstat(directory.get(), &status) == 0;
  if (known && status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0) return directory;
  return base::failed(StateDirFailure{
      StateDirError::io,
      fmt::format("state directory {}: must belong to this user and be writable by nobody else",
                  path)});
}

/// Writes all of `bytes`. An error number, or 0.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string digest_of(std::string_view text) {
  return std::string(base::as_chars(base::sha256(text)));
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// Takes "123 " or "123\n" off the front.
std::optional<std::int64_t> take_number(std::string_view& text, char end) {
  std::int64_t value = 0;
  const auto stop = text.find(end);
  if (stop == std::string_view::npos || stop == 0 || stop > 19) return std::nullopt;
  for (char c : text.substr(0, stop)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(stop + 1);
  return value;
}

constexpr std::string_view memory_head = "starleased partitions 1\n";
constexpr std::string_view memory_sum = "sha256 ";

}  // namespace

base::Result<std::unique_ptr<StateDir>, StateDirFailure> StateDir::open(const std::string& path,
                                                                        base::Random& random,
                                                                        base::Log& log) {
  auto directory = open_directory(path);
  if (!directory) return base::failed(directory.error());
  std::unique_ptr<StateDir> state(new StateDir(std::move(*directory), log));
  state->lock_ = uv::OwnedFd(::openat(state->directory_.get(), lock_file,
                                      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!state->lock_) return base::failed(io_failure(path, errno));
  if (::flock(state->lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::failed(io_failure(path, errno));
    return base::failed(
        StateDirFailure{StateDirError::in_use,
                        fmt::format("state directory {}: another starleased is using it", path)});
  }
  const int error = state->load_key(random);
  if (error != 0) return base::failed(io_failure(path, error));
  return state;
}

std::string StateDir::read(const char* name) const {
  const uv::OwnedFd file(
      ::openat(directory_.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return {};
  std::string bytes(max_state_bytes, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

int StateDir::replace(const char* name, std::string_view bytes) {
  const std::string temporary = std::string(name) + ".new";
  const uv::OwnedFd file(::openat(directory_.get(), temporary.c_str(),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  int error = write_all(file.get(), bytes);
  if (error == 0 && ::fdatasync(file.get()) != 0) error = errno;
  const int directory = directory_.get();
  if (error == 0 && ::renameat(directory, temporary.c_str(), directory, name) != 0) error = errno;
  // The rename itself must survive a power cut too.
  if (error == 0 && ::fsync(directory) != 0) error = errno;
  return error;
}

int StateDir::load_key(base::Random& random) {
  const std::string bytes = read(key_file);
  const std::string_view key =
      std::string_view(bytes).substr(0, std::min(bytes.size(), resume_key_.size()));
  if (key.size() == resume_key_.size() && bytes.substr(key.size()) == digest_of(key)) {
    std::memcpy(resume_key_.data(), key.data(), key.size());
    return 0;
  }
  if (!bytes.empty()) {
    log_.warning("resume key unreadable; a new one is made and old sessions cannot resume");
  }
  random.fill(resume_key_);
  const std::string fresh(base::as_chars(resume_key_));
  return replace(key_file, fresh + digest_of(fresh));
}

std::map<std::uint32_t, service::PartitionMemory> StateDir::load() const {
  const std::string text = read(partitions_file);
  if (text.empty()) return {};
  auto memory = decode_memory(text);
  if (!memory) log_.warning("state of the partitions unreadable; taken as absent");
  return std::move(memory).value_or(std::map<std::uint32_t, service::PartitionMemory>{});
}

bool StateDir::save(const std::map<std::uint32_t, service::PartitionMemory>& memory) {
  const int error = replace(partitions_file, encode_memory(memory));
  if (error != 0) {
    log_.error("state of the partitions not written",
               {{"error", std::string_view(std::strerror(error))}});
  }
  return error == 0;
}

/// A head, one line "partition sequence token" each, and the SHA-256 of all that in hex.
std::string encode_memory(const std::map<std::uint32_t, service::PartitionMemory>& memory) {
  std::string text(memory_head);
  for (const auto& [partition, seen] : memory) {
    text += fmt::format("{} {} {}\n", partition, seen.sequence, seen.token.value);
  }
  return text + fmt::format("{}{}\n", memory_sum, hex(digest_of(text)));
}

std::optional<std::map<std::uint32_t, service::PartitionMemory>> decode_memory(
    std::string_view text) {
  const auto sum = text.rfind(memory_sum);
  if (sum == std::string_view::npos || !text.starts_with(memory_head)) return std::nullopt;
  const std::string expected =
      fmt::format("{}{}\n", memory_sum, hex(digest_of(text.substr(0, sum))));
  if (text.substr(sum) != expected) return std::nullopt;
  std::string_view rest = text.substr(memory_head.size(), sum - memory_head.size());
  std::map<std::uint32_t, service::PartitionMemory> memory;
  while (!rest.empty()) {
    const auto partition = take_number(rest, ' ');
    const auto sequence = partition ? take_number(rest, ' ') : std::nullopt;
    const auto token = sequence ? take_number(rest, '\n') : std::nullopt;
    if (!token || *partition > UINT32_MAX) return std::nullopt;
    memory[static_cast<std::uint32_t>(*partition)] = {*sequence, core::FencingToken{*token}};
  }
  return memory;
}

}  // namespace starlease

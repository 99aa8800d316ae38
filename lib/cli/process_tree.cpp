// Walking /proc; see the header.
#include "lib/cli/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "lib/client/unique_fd.hpp"

namespace starlease::cli {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The parent of a living process; nothing for a zombie or one that is gone.
std::optional<pid_t> parent_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const client::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> bytes{};
  const ssize_t size = file ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  if (size <= 0) return std::nullopt;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(size));
  // "pid (name) state parent …", where the name may hold anything.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 4 >= text.size()) return std::nullopt;
  const char state = text[name_end + 2];
  if (state == 'Z' || state == 'X') return std::nullopt;
  const std::string_view rest = text.substr(name_end + 4);
  return number(rest.substr(0, rest.find(' ')));
}

/// Parent and children of every living process.
std::unordered_multimap<pid_t, pid_t> children_by_parent() {
  std::unordered_multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, DirectoryCloser> proc(::opendir("/proc"));
  if (!proc) return children;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = number(entry->d_name);
    if (!pid) continue;
    if (const auto parent = parent_of(*pid)) children.emplace(*parent, *pid);
  }
  return children;
}

/// Signals `pid` if it still is a child of one of `family`.
void signal_member(pid_t pid, const std::unordered_set<pid_t>& family, int signal) {
  const client::UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!handle) return;
  // The number stands for one process from here on; it may be another one than was listed.
  const auto parent = parent_of(pid);
  if (!parent || !family.contains(*parent)) return;
  ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

}  // namespace

void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants() {
  const auto children = children_by_parent();
  std::vector<pid_t> found;
  std::vector<pid_t> parents = {::getpid()};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second);
    }
  }
  return found;
}

std::size_t signal_descendants(int signal) {
  const std::vector<pid_t> found = descendants();
  std::unordered_set<pid_t> family(found.begin(), found.end());
  family.insert(::getpid());
  for (const pid_t pid : found) signal_member(pid, family, signal);
  return found.size();
}

}  // namespace starlease::cli

// fork and exec; see the header.
#include "lib/cli/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "lib/client/unique_fd.hpp"

namespace starlease::cli {
namespace {

/// What a service manager says to the process that it starts, and to no other.
constexpr std::array<std::string_view, 4> activation_variables = {"LISTEN_PID", "LISTEN_PIDFDID",
                                                                  "LISTEN_FDS", "LISTEN_FDNAMES"};

/// The environment with the variables of `plan`; what it says wins.
std::vector<std::string> environment_of(const ChildPlan& plan) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(plan.variables.begin(), plan.variables.end(),
                                      [&](const auto& variable) { return variable.first == name; });
    if (std::ranges::find(activation_variables, name) != activation_variables.end()) continue;
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : plan.variables) {
    std::string& entry = environment.emplace_back(name);
    entry.append("=").append(value);
  }
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// In the child: everything up to exec. Never returns.
[[noreturn]] void become(const ChildPlan& plan, char* const* argv, char* const* envp, pid_t parent,
                         int failure_pipe) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  if (plan.terminal >= 0) ::tcsetpgrp(plan.terminal, ::getpid());
  ::sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  ::execvpe(argv[0], argv, envp);
  const int error = errno;
  (void)!::write(failure_pipe, &error, sizeof(error));
  ::_exit(127);
}

}  // namespace

void keep_passed_sockets() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0L : std::strtol(text, nullptr, 10);
  };
  constexpr int first = 3;
  constexpr long most = 1024;
  if (number("LISTEN_PID") != ::getpid()) return;
  const int count = static_cast<int>(std::clamp(number("LISTEN_FDS"), 0L, most));
  for (int fd = first; fd < first + count; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::variant<pid_t, StartFailure> start_child(const ChildPlan& plan) {
  std::vector<std::string> words = plan.command;
  std::vector<std::string> environment = environment_of(plan);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return StartFailure{errno};
  const client::UniqueFd reading(ends[0]);
  client::UniqueFd writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return StartFailure{errno};
  if (child == 0) become(plan, argv.data(), envp.data(), parent, writing.get());
  ::setpgid(child, child);  // whichever of the two comes first
  writing.reset();
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(reading.get(), &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  if (size == 0) return child;
  ::waitpid(child, nullptr, 0);
  return StartFailure{error};
}

}  // namespace starlease::cli

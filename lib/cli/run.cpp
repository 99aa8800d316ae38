// `starlease run`, the front: starts the keeper, passes signals and the terminal on, and ends as it
// says. It holds neither the lease nor the command, so that stopping or killing it does no harm.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "lib/cli/child_process.hpp"
#include "lib/cli/commands.hpp"
#include "lib/cli/keeper.hpp"
#include "lib/cli/process_tree.hpp"
#include "lib/cli/terminal.hpp"

namespace starlease::cli {
namespace {

/// What killing leaves is looked for again so often, in milliseconds.
constexpr int kill_round_ms = 2;

class Front {
 public:
  Front(pid_t keeper, KeeperLink link, SignalQueue& signals, const Terminal& terminal)
      : keeper_(keeper), link_(std::move(link)), signals_(signals), terminal_(terminal) {}

  /// Until the keeper has ended; the exit code.
  ExitCode attend();

 private:
  void take_signals();
  void hear_keeper();
  void on_stopped(int signal);
  void on_continued();
  void reap();
  void kill_orphans();

  pid_t keeper_;
  KeeperLink link_;
  SignalQueue& signals_;
  const Terminal& terminal_;
  /// The command's process group, once it runs.
  pid_t group_ = -1;
  bool handed_over_ = false;
  bool link_ended_ = false;
  std::optional<int> keeper_status_;
};

ExitCode Front::attend() {
  while (!keeper_status_) {
    std::array<pollfd, 2> items = {
        {{signals_.fd(), POLLIN, 0}, {link_ended_ ? -1 : link_.fd(), POLLIN, 0}}};
    ::poll(items.data(), items.size(), -1);
    hear_keeper();
    take_signals();
    reap();
  }
  hear_keeper();
  if (group_ > 0 && terminal_.is_of(group_)) terminal_.give_to(::getpgrp());
  if (WIFEXITED(*keeper_status_)) return static_cast<ExitCode>(WEXITSTATUS(*keeper_status_));
  std::fputs("starlease run: the keeper of the lease was killed; the command is killed too\n",
             stderr);
  kill_orphans();
  return ExitCode::internal;
}

void Front::take_signals() {
  while (const auto signal = signals_.next()) {
    switch (signal->number) {
      case SIGCHLD:
      case SIGTTIN:
      case SIGTTOU:
      case SIGPIPE:
        break;
      case SIGCONT:
        on_continued();
        break;
      case SIGTSTP:
        // Not the one that on_stopped() sends to the whole group.
        if (signal->sender == ::getpid()) break;
        [[fallthrough]];
      default:
        link_.say(KeeperWord::signal, signal->number);
    }
  }
}

void Front::hear_keeper() {
  KeeperMessage message;
  while (!link_ended_) {
    switch (link_.hear(message)) {
      case KeeperLink::Heard::nothing:
        return;
      case KeeperLink::Heard::end:
        link_ended_ = true;
        return;
      case KeeperLink::Heard::message:
        break;
    }
    if (message.word == KeeperWord::started) {
      group_ = message.value;
      handed_over_ = terminal_.is_of(group_);
    } else if (message.word == KeeperWord::stopped) {
      on_stopped(message.value);
    }
  }
}

void Front::on_stopped(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.is_ours()) {
    handed_over_ = true;
    terminal_.give_to(group_);
    return link_.say(KeeperWord::signal, SIGCONT);
  }
  const bool was_in_front = group_ > 0 && terminal_.is_of(group_);
  const bool by_job_control = terminal_.present() && (was_in_front || signal != SIGSTOP);
  if (!by_job_control) return;
  if (was_in_front) {
    terminal_.give_to(::getpgrp());
    // A script that started us is to stop as well, as if the key had reached it.
    ::kill(0, SIGTSTP);
  }
  // The shell sees us stopped; the keeper goes on holding the lease.
  ::raise(SIGSTOP);
}

void Front::on_continued() {
  if (handed_over_ && terminal_.is_ours()) terminal_.give_to(group_);
  link_.say(KeeperWord::signal, SIGCONT);
}

void Front::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid == keeper_) keeper_status_ = status;
  }
}

void Front::kill_orphans() {
  while (true) {
    signal_descendants(SIGKILL);
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (pid < 0) return;  // no child is left
    pollfd item{signals_.fd(), POLLIN, 0};
    ::poll(&item, 1, kill_round_ms);
    while (signals_.next()) {
    }
  }
}

/// The keeper's process. Never returns.
[[noreturn]] void be_keeper(const KeeperPlan& plan, KeeperLink link) {
  // Away from the terminal's signals and from what is sent to the caller's group.
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "lease-keeper", 0, 0, 0);
  become_subreaper();
  ExitCode code{};
  {
    Keeper keeper(plan, std::move(link));
    code = keeper.keep();
  }
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

ExitCode system_failure() {
  std::perror("starlease run");
  return ExitCode::internal;
}

}  // namespace

ExitCode run(const Context& context, const RunArguments& arguments) {
  SignalQueue signals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH,
                       SIGTSTP, SIGCONT, SIGTTOU, SIGTTIN, SIGPIPE});
  keep_passed_sockets();
  // Should the keeper be killed, what it held falls to us.
  become_subreaper();
  const Terminal terminal;
  auto links = KeeperLink::make();
  if (!links) return system_failure();
  std::fflush(nullptr);
  const pid_t keeper = ::fork();
  if (keeper < 0) return system_failure();
  if (keeper == 0) {
    const KeeperPlan plan{context, arguments, signals.original_mask(),
                          terminal.to_be_handed_over() ? terminal.fd() : -1};
    // The front's end must be closed here, or its death would not be seen.
    {
      const KeeperLink other = std::move(links->first);
    }
    be_keeper(plan, std::move(links->second));
  }
  {
    const KeeperLink other = std::move(links->second);
  }
  return Front(keeper, std::move(links->first), signals, terminal).attend();
}

}  // namespace starlease::cli

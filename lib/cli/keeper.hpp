// The second process of `starlease run`: it holds the lease and the command. The first one, the
// front, is what the caller sees and may be stopped or killed; this one lives on until nothing of
// the command is alive, and only then gives the lease back. It is the parent of whatever the
// command leaves behind.
#pragma once

#include <sys/wait.h>

#include <functional>

#include "lib/cli/commands.hpp"
#include "lib/cli/keeper_link.hpp"
#include "lib/cli/kill_plan.hpp"
#include "lib/cli/signals.hpp"

namespace starlease::cli {

struct KeeperPlan {
  const Context& context;
  const RunArguments& arguments;
  /// The signal mask for the command.
  sigset_t mask{};
  /// A terminal that the command is to have in front from the start; -1: none.
  int terminal = -1;
};

class Keeper {
 public:
  /// REQUIRES: this process was made for it: one thread, nothing else to do.
  Keeper(const KeeperPlan& plan, KeeperLink front);

  /// Acquires, runs, ends, releases. The exit code of the whole.
  ExitCode keep();

 private:
  /// Ends the story before the command has run, with this exit code.
  using Early = std::optional<ExitCode>;

  Early connect();
  Early acquire();
  Early start();
  void watch();
  void give_back();

  void wait(std::optional<BootTime> until);
  void take_signals();
  void hear_front();
  void pass_on(int signal);
  void reap();
  void look_at_lease(BootTime now);
  void begin_end(BootTime kill_at);
  void lost(LossReason reason);
  void end_in_time(BootTime now);
  [[nodiscard]] std::optional<BootTime> next_step() const;
  [[nodiscard]] Milliseconds kill_after() const;
  ExitCode report(const Error& error) const;
  void say(const std::string& text) const;

  const KeeperPlan& plan_;
  KeeperLink front_;
  SignalQueue signals_;
  std::optional<Client> client_;
  Lease lease_;
  pid_t child_ = -1;
  /// Of the command itself, once it has ended.
  std::optional<int> status_;
  bool has_children_ = false;
  bool front_gone_ = false;
  /// A signal that came before the command ran.
  int interrupted_by_ = 0;
  /// Set once TERM has been sent to what is alive.
  std::optional<BootTime> kill_at_;
  bool killing_ = false;
  /// The command was stopped because the lease was lost or about to be.
  bool ended_for_loss_ = false;
};

}  // namespace starlease::cli

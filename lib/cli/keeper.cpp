// Holding the lease around the command; see the header.
#include "lib/cli/keeper.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "lib/cli/child_process.hpp"
#include "lib/cli/process_tree.hpp"

namespace starlease::cli {
namespace {

/// While killing, what was just being made is looked for again so often.
constexpr Milliseconds kill_round{2};
/// Giving the lease back must not hold up the end for long.
constexpr Milliseconds give_back_timeout{2000};

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.string();
}

ExitCode exit_code_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return static_cast<ExitCode>(128 + WTERMSIG(wait_status));
  return static_cast<ExitCode>(WEXITSTATUS(wait_status));
}

bool ends_a_wait(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

Keeper::Keeper(const KeeperPlan& plan, KeeperLink front)
    : plan_(plan),
      front_(std::move(front)),
      signals_({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP,
                SIGCONT, SIGTTOU, SIGTTIN, SIGPIPE}) {}

ExitCode Keeper::keep() {
  for (const auto step : {&Keeper::connect, &Keeper::acquire, &Keeper::start}) {
    if (const Early early = (this->*step)()) {
      give_back();
      return *early;
    }
  }
  watch();
  give_back();
  if (ended_for_loss_ || !status_) return ExitCode::lost;
  return exit_code_of(*status_);
}

// --- before the command runs
// ----------------------------------------------------------------------

Keeper::Early Keeper::connect() {
  auto client = Client::connect(plan_.context.client_options());
  if (!client) return report(client.error());
  client_.emplace(std::move(*client));
  client_->on_event([this](const Event& event) {
    if (event.kind != EventKind::draining || event.restart || kill_at_) return;
    say("the daemon is going down and gives the lease away; stopping the command");
    ended_for_loss_ = true;
    begin_end(client::boot_now() + std::min(drain_patience, kill_after()));
  });
  return std::nullopt;
}

Keeper::Early Keeper::acquire() {
  std::optional<Result<Lease>> result;
  AcquireOptions options = plan_.arguments.options;
  options.timeout = plan_.context.common.timeout;
  client_->start_acquire(options, [&](Result<Lease> answer) { result.emplace(std::move(answer)); });
  while (!result) {
    wait(std::nullopt);
    if (front_gone_) return ExitCode::internal;
    if (interrupted_by_ != 0) return static_cast<ExitCode>(128 + interrupted_by_);
  }
  if (!*result) return report(result->error());
  lease_ = std::move(**result);
  return std::nullopt;
}

Keeper::Early Keeper::start() {
  ChildPlan plan;
  plan.command = plan_.arguments.command;
  plan.variables = {{"STARLEASE_SOCKET", absolute(client_->socket_path())},
                    {"STARLEASE_LEASE_ID", lease_.id()},
                    {"STARLEASE_FENCING_TOKEN", std::to_string(lease_.token())},
                    {"STARLEASE_EXPIRES_AT", to_rfc3339(lease_.grant().lease.expires_at)},
                    {"STARLEASE_ENVELOPE", lease_.envelope_json()}};
  plan.mask = plan_.mask;
  plan.terminal = plan_.terminal;
  const auto started = start_child(plan);
  if (const auto* failure = std::get_if<StartFailure>(&started)) {
    say("cannot run " + plan.command.front() + ": " + std::strerror(failure->error));
    return failure->error == ENOENT ? ExitCode::not_found : ExitCode::cannot_execute;
  }
  child_ = std::get<pid_t>(started);
  has_children_ = true;
  front_.say(KeeperWord::started, child_);
  return std::nullopt;
}

// --- while it runs
// --------------------------------------------------------------------------------

void Keeper::watch() {
  while (has_children_) {
    const BootTime now = client::boot_now();
    look_at_lease(now);
    end_in_time(now);
    wait(next_step());
    reap();
  }
}

void Keeper::look_at_lease(BootTime now) {
  if (front_gone_ && !killing_) begin_end(now);
  if (lease_.lost()) return lost(lease_.loss()->reason);
  if (kill_at_) return;
  const LeaseInfo& info = lease_.grant().lease;
  const BootTime valid_until{client::Nanoseconds(lease_.valid_until_boottime_ns())};
  const KillPlan plan = plan_kill(valid_until, info.ttl, plan_.arguments.kill_after);
  if (now < plan.term_at) return;
  say("no renewal in time; stopping the command before the lease ends");
  ended_for_loss_ = true;
  begin_end(plan.kill_at);
}

void Keeper::lost(LossReason reason) {
  const BootTime now = client::boot_now();
  if (!ended_for_loss_ && !status_) {
    say("the lease was lost (" + std::string(name(reason)) + "); stopping the command");
    ended_for_loss_ = true;
  }
  if (may_be_granted_now(reason)) {
    kill_at_ = now;
  } else if (!kill_at_) {
    begin_end(now + kill_after());
  }
}

/// TERM now, KILL at `kill_at` or what validity allows.
void Keeper::begin_end(BootTime kill_at) {
  kill_at_ = kill_at;
  if (kill_at <= client::boot_now()) return;
  if (child_ > 0 && !status_) ::kill(-child_, SIGTERM);
  signal_descendants(SIGTERM);
  // What is stopped would not see it.
  signal_descendants(SIGCONT);
}

void Keeper::end_in_time(BootTime now) {
  if (!kill_at_) return;
  const BootTime valid_until{client::Nanoseconds(lease_.valid_until_boottime_ns())};
  const KillPlan plan =
      plan_kill(valid_until, lease_.grant().lease.ttl, plan_.arguments.kill_after);
  kill_at_ = std::min(*kill_at_, plan.kill_at);
  if (now < *kill_at_) return;
  killing_ = true;
  // The group in one step; then whatever has left it.
  if (child_ > 0 && !status_) ::kill(-child_, SIGKILL);
  signal_descendants(SIGKILL);
}

std::optional<BootTime> Keeper::next_step() const {
  if (killing_) return client::boot_now() + kill_round;
  const BootTime valid_until{client::Nanoseconds(lease_.valid_until_boottime_ns())};
  const KillPlan plan =
      plan_kill(valid_until, lease_.grant().lease.ttl, plan_.arguments.kill_after);
  return kill_at_ ? std::min(*kill_at_, plan.kill_at) : plan.term_at;
}

void Keeper::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != child_) continue;
    if (WIFSTOPPED(status)) {
      front_.say(KeeperWord::stopped, WSTOPSIG(status));
    } else {
      status_ = status;
    }
  }
  has_children_ = pid == 0;
  // What the command has left behind works under the lease too, and ends with it.
  if (has_children_ && status_ && !kill_at_) begin_end(client::boot_now() + kill_after());
}

void Keeper::wait(std::optional<BootTime> until) {
  Milliseconds time{60'000};
  if (until) time = std::min(time, base::floor_ms(*until - client::boot_now()) + Milliseconds(1));
  std::array<pollfd, 3> items = {{{client_->fd(), POLLIN, 0},
                                  {signals_.fd(), POLLIN, 0},
                                  {front_gone_ ? -1 : front_.fd(), POLLIN, 0}}};
  ::poll(items.data(), items.size(), static_cast<int>(std::max(time, Milliseconds(0)).count()));
  hear_front();
  take_signals();
  (void)client_->process();  // a fatal failure loses the lease
}

void Keeper::take_signals() {
  while (const auto signal = signals_.next()) {
    if (signal->number != SIGCHLD) pass_on(signal->number);
  }
}

void Keeper::hear_front() {
  KeeperMessage message;
  while (!front_gone_) {
    switch (front_.hear(message)) {
      case KeeperLink::Heard::message:
        pass_on(message.value);
        break;
      case KeeperLink::Heard::nothing:
        return;
      case KeeperLink::Heard::end:
        front_gone_ = true;
        break;
    }
  }
}

void Keeper::pass_on(int signal) {
  if (child_ < 0) {
    if (ends_a_wait(signal)) interrupted_by_ = signal;
  } else if (!status_) {
    ::kill(-child_, signal);
  }
}

// --- the end
// --------------------------------------------------------------------------------------

void Keeper::give_back() {
  if (!client_) return;
  if (lease_ && !lease_.lost()) {
    // Past its validity it ends by itself: a daemon that hangs is not waited for any longer.
    const auto timeout = std::min(give_back_timeout, base::floor_ms(lease_.valid_for()));
    const auto released = client_->release(std::move(lease_), {timeout, {}});
    const bool news = !released && released.error().code != ErrorCode::lease_lost;
    if (news) say("the lease could not be released: " + released.error().describe());
  }
  lease_ = Lease();
  client_.reset();
}

Milliseconds Keeper::kill_after() const {
  return plan_.arguments.kill_after.value_or(standard_kill_after);
}

/// The command owns standard output, so that a failure goes to standard error alone.
ExitCode Keeper::report(const Error& error) const {
  const bool waited = plan_.arguments.options.wait > Duration(0);
  if (plan_.context.common.json) {
    std::fprintf(stderr, "%s\n", error_json(error).c_str());
  } else {
    std::fprintf(stderr, "%s\n", error_line(error, waited).c_str());
  }
  return exit_code(error.code, waited);
}

void Keeper::say(const std::string& text) const {
  std::fprintf(stderr, "starlease run: %s\n", text.c_str());
}

}  // namespace starlease::cli

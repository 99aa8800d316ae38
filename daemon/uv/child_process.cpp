// Child processes; see the header. Between fork and exec only async-signal-safe calls are made.
#include "daemon/uv/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace starlease::uv {
namespace {

constexpr int cannot_exec = 127;

/// In the child: becomes the program, or reports errno through `report` and ends.
[[noreturn]] void become(char* const* argv, int parent, int null, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above: then nobody would ever be signalled.
  if (::getppid() != parent) ::_exit(cannot_exec);
  // A terminal's Ctrl-C is for the daemon, which ends the child in its own order.
  ::setpgid(0, 0);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(report, &code, sizeof code);
  ::_exit(cannot_exec);
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::spawn(Loop& loop, ChildSpec spec, Ended ended) {
  std::vector<char*> argv = {spec.program.data()};
  for (std::string& argument : spec.arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  OwnedFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int ends[2];
  if (!null || ::pipe2(ends, O_CLOEXEC) != 0) {
    return base::failed(system_error("cannot start " + spec.program, errno));
  }
  OwnedFd report_in(ends[0]);
  OwnedFd report_out(ends[1]);
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid < 0) return base::failed(system_error("cannot start " + spec.program, errno));
  if (pid == 0) become(argv.data(), parent, null.get(), report_out.get());
  report_out.reset();
  int code = 0;
  const bool refused = ::read(report_in.get(), &code, sizeof code) == sizeof code;
  OwnedFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  std::unique_ptr<ChildProcess> child(new ChildProcess(pid, std::move(pidfd), std::move(ended)));
  if (refused) return base::failed(system_error("cannot run " + spec.program, code));
  if (!child->pidfd_) return base::failed(system_error("cannot watch " + spec.program, errno));
  const auto opened = child->poll_.open(
      loop, child->pidfd_.get(),
      [](void* self, int, int) { static_cast<ChildProcess*>(self)->on_exit(); }, child.get());
  if (!opened) return base::failed(opened.error());
  child->poll_.want(UV_READABLE);
  return child;
}

ChildProcess::~ChildProcess() {
  poll_.close();
  if (reaped_) return;
  kill(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::kill(int signal) const {
  if (!reaped_) ::kill(pid_, signal);
}

void ChildProcess::on_exit() {
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
  reaped_ = true;
  poll_.close();
  ChildExit exit;
  if (WIFSIGNALED(status)) {
    exit.signal = WTERMSIG(status);
  } else {
    exit.status = WEXITSTATUS(status);
  }
  auto ended = std::move(ended_);
  ended(exit);
}

}  // namespace starlease::uv

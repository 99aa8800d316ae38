// Supervision of the embedded server; see the header.
#include "daemon/embedded_valkey.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include "daemon/uv/peer_credentials.hpp"
#include "daemon/uv/socket_path.hpp"

namespace starlease {
namespace {

using base::Milliseconds;

constexpr Milliseconds probe_every{5};
/// A server that does not listen by then never will.
constexpr Milliseconds first_start_limit{10'000};
constexpr Milliseconds least_delay{50};
constexpr Milliseconds most_delay{2'000};
/// A server that has lived for so long died of something new: begin with the shortest delay again.
constexpr Milliseconds settled{10'000};
constexpr Milliseconds orderly_end{5'000};
constexpr int predecessor_wait_ms = 5'000;

/// Waits for whoever serves the socket now to end. It may still be writing to the files that the
/// new server is about to read. False if it lives on.
bool predecessor_is_gone(const std::string& socket) {
  const auto connection = uv::connect_unix(socket);
  if (!connection) return true;
  const auto peer = uv::peer_identity(connection->get());
  if (!peer) return true;
  const uv::PeerHandle process = uv::open_peer(connection->get(), *peer);
  if (process.process == uv::PeerProcess::gone) return true;
  if (process.process == uv::PeerProcess::unknowable) return false;
  struct pollfd ended{};
  ended.fd = process.pidfd.get();
  ended.events = POLLIN;
  return ::poll(&ended, 1, predecessor_wait_ms) == 1;
}

}  // namespace

EmbeddedValkey::EmbeddedValkey(uv::Loop& loop, base::Timers& timers, base::Log& log,
                               Settings settings)
    : loop_(loop), timers_(timers), log_(log), settings_(std::move(settings)) {}

int EmbeddedValkey::pid() const { return child_ ? child_->pid() : 0; }

void EmbeddedValkey::start(Hooks hooks) {
  hooks_ = std::move(hooks);
  if (!predecessor_is_gone(settings_.socket)) {
    return give_up(fmt::format("another server is using {}", settings_.socket));
  }
  if (::mkdir(settings_.data_dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return give_up(fmt::format("{}: {}", settings_.data_dir, std::strerror(errno)));
  }
  spawn();
}

void EmbeddedValkey::spawn() {
  spawned_at_ = loop_.clock().boot_now();
  uv::ChildSpec spec;
  spec.program = settings_.program;
  spec.arguments = settings_.arguments;
  auto child = uv::ChildProcess::spawn(loop_, std::move(spec),
                                       [this](const uv::ChildExit& exit) { exited(exit); });
  if (child) {
    child_ = std::move(*child);
    log_.info("embedded valkey started", {{"pid", pid()}});
    return probe();
  }
  if (hooks_.up) return give_up(child.error().message);
  log_.error("embedded valkey cannot be started", {{"error", child.error().message}});
  start_again();
}

/// Listening comes before loading, and the store waits for that by itself.
void EmbeddedValkey::probe() {
  if (!hooks_.up) return;
  if (uv::connect_unix(settings_.socket)) return std::exchange(hooks_.up, nullptr)();
  const base::BootTime now = loop_.clock().boot_now();
  if (now - spawned_at_ > first_start_limit) return give_up(settings_.program + " does not listen");
  timer_ = timers_.at(now + probe_every, [this] { probe(); });
}

void EmbeddedValkey::exited(const uv::ChildExit& exit) {
  child_.reset();
  timer_.reset();
  if (stopping_) {
    if (stopped_) std::exchange(stopped_, nullptr)();
    return;
  }
  log_.warning("embedded valkey ended", {{"status", exit.status}, {"signal", exit.signal}});
  if (hooks_.up)
    return give_up(fmt::format("{} ended with status {}", settings_.program, exit.status));
  start_again();
}

void EmbeddedValkey::start_again() {
  const base::BootTime now = loop_.clock().boot_now();
  const bool fresh = delay_.count() == 0 || now - spawned_at_ > settled;
  delay_ = fresh ? least_delay : std::min(most_delay, delay_ * 2);
  timer_ = timers_.at(now + delay_, [this] { spawn(); });
}

void EmbeddedValkey::give_up(std::string why) {
  stopping_ = true;
  hooks_.up = nullptr;
  hooks_.failed(std::move(why));
}

void EmbeddedValkey::stop(std::move_only_function<void()> stopped) {
  stopping_ = true;
  hooks_.up = nullptr;
  timer_.reset();
  if (!child_) return stopped();
  stopped_ = std::move(stopped);
  child_->kill(SIGTERM);
  timer_ = timers_.at(loop_.clock().boot_now() + orderly_end, [this] {
    if (child_) child_->kill(SIGKILL);
  });
}

}  // namespace starlease

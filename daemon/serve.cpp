// The life of the daemon; see the header.
#include "daemon/serve.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "daemon/daemon.hpp"
#include "daemon/embedded_valkey.hpp"
#include "daemon/log/line_fd.hpp"
#include "daemon/real_settings.hpp"
#include "daemon/systemd_notify.hpp"
#include "daemon/uv/signals.hpp"
#include "daemon/version.hpp"
#include "lib/core/canonical.hpp"

namespace starlease {
namespace {

constexpr std::chrono::seconds status_every{1};

class Server {
 public:
  Server(const config::ValidConfig& config, Host& host, const std::optional<DevServer>& dev)
      : config_(config),
        host_(host),
        dev_(dev),
        environment_(host.environment()),
        daemon_(daemon_settings(config, dev && dev->run_dir.fresh), environment_),
        notify_(host.clock(), host.timers()) {}

  base::Result<void, HostFailure> run() {
    auto signals = uv::Signals::create(host_.loop(), {SIGTERM, SIGINT, SIGHUP},
                                       [this](int number) { on_signal(number); });
    if (!signals) return base::failed(HostFailure{ExitCode::software, signals.error().message});
    host_.loop().on_turn([this](base::BootTime now) { daemon_.turn(now); });
    host_.log().info("starleased starts", {{"version", version}, {"pid", ::getpid()}});
    dev_ ? start_valkey() : start();
    host_.loop().run();
    host_.loop().on_turn(nullptr);
    host_.log().info("starleased ends");
    return std::move(result_);
  }

 private:
  void start() {
    started_ = true;
    daemon_.start();
    notify_.ready();
    tell_status();
    // A daemon that waits for its Valkey serves already: it says "unavailable", and takes
    // `namespace init`. Only --dev promises that the first acquire succeeds.
    dev_ ? daemon_.when_ready([this] { print_ready(); }) : print_ready();
  }

  void start_valkey() {
    const std::string& dir = dev_->run_dir.path;
    valkey_.emplace(host_.loop(), host_.timers(), host_.log(),
                    EmbeddedValkey::Settings{dev_->valkey_server, dev_valkey_arguments(dir),
                                             dev_valkey_socket(dir), dev_valkey_data(dir)});
    valkey_->start({[this] { start(); },
                    [this](std::string why) {
                      result_ = base::failed(HostFailure{ExitCode::unavailable, std::move(why)});
                      host_.loop().stop();
                    }});
  }

  void on_signal(int number) {
    if (number == SIGHUP)
      return host_.log().info("nothing to reload; restart to change the configuration");
    if (std::exchange(draining_, true)) {
      host_.log().warning("second signal; ends at once", {{"signal", number}});
      return host_.loop().stop();
    }
    host_.log().info("drains", {{"signal", number}});
    notify_.stopping();
    if (!started_) return drained();
    daemon_.drain([this] { drained(); });
  }

  void drained() {
    if (!valkey_) return host_.loop().stop();
    valkey_->stop([this] { host_.loop().stop(); });
  }

  void tell_status() {
    std::string text(core::name(daemon_.backend()));
    if (daemon_.backend() == core::BackendState::unavailable &&
        !host_.store().trouble().what.empty()) {
      text += ": " + host_.store().trouble().what;
    }
    if (text != std::exchange(status_, text)) notify_.status("backend " + text);
    status_timer_ =
        host_.timers().at(host_.clock().boot_now() + status_every, [this] { tell_status(); });
  }

  void print_ready() {
    core::CanonicalObject line;
    line.add("socket", config_.socket.path).add("admin_socket", config_.admin_socket.path);
    line.add("valkey", config_.valkey.unix_path.empty()
                           ? fmt::format("{}:{}", config_.valkey.host, config_.valkey.port)
                           : config_.valkey.unix_path);
    if (valkey_) line.add("valkey_pid", valkey_->pid()).add("run_dir", dev_->run_dir.path);
    log::LineFd(STDOUT_FILENO).write(fmt::format("ready {}\n", std::move(line).finish()));
    host_.log().info("serves");
  }

  const config::ValidConfig& config_;
  Host& host_;
  const std::optional<DevServer>& dev_;
  Environment environment_;
  std::optional<EmbeddedValkey> valkey_;
  Daemon daemon_;
  SystemdNotify notify_;
  base::Timer status_timer_;
  std::string status_;
  bool started_ = false;
  bool draining_ = false;
  base::Result<void, HostFailure> result_;
};

}  // namespace

base::Result<void, HostFailure> serve(const config::ValidConfig& config,
                                      const std::optional<DevServer>& dev) {
  auto passed = take_passed_sockets();
  if (!passed) return base::failed(HostFailure{ExitCode::cannot_create, passed.error()});
  auto host = Host::create(config, std::move(*passed));
  if (!host) return base::failed(host.error());
  Server server(config, **host, dev);
  return server.run();
}

}  // namespace starlease

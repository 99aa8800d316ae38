// The private valkey-server of --dev: started, awaited, started again when it dies, taken down at
// the end. It dies with this process whatever kills that. Owned by main(); one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/uv/child_process.hpp"
#include "daemon/uv/loop.hpp"
#include "lib/base/log.hpp"
#include "lib/base/timers.hpp"

namespace starlease {

class EmbeddedValkey {
 public:
  struct Settings {
    std::string program;
    std::vector<std::string> arguments;
    /// Where it will listen; `data_dir` is made if it is missing.
    std::string socket;
    std::string data_dir;
  };
  struct Hooks {
    /// It accepts connections, for the first time. Called once.
    std::move_only_function<void()> up;
    /// It could not be started at all; nothing more will come. Called instead of `up`.
    std::move_only_function<void(std::string why)> failed;
  };

  /// All but `settings` must outlive this.
  EmbeddedValkey(uv::Loop& loop, base::Timers& timers, base::Log& log, Settings settings);
  EmbeddedValkey(const EmbeddedValkey&) = delete;
  EmbeddedValkey& operator=(const EmbeddedValkey&) = delete;

  /// REQUIRES: called once, before the loop runs. May wait up to five seconds for the server of an
  /// earlier daemon, which is dying with it, to be gone.
  void start(Hooks hooks);
  /// Ends it in order, or by force after five seconds; then `stopped`. Nothing is started again.
  void stop(std::move_only_function<void()> stopped);
  /// Process id of the running server; 0 if there is none just now.
  [[nodiscard]] int pid() const;

 private:
  void spawn();
  void probe();
  void exited(const uv::ChildExit& exit);
  void start_again();
  void give_up(std::string why);

  uv::Loop& loop_;
  base::Timers& timers_;
  base::Log& log_;
  Settings settings_;
  Hooks hooks_;
  std::unique_ptr<uv::ChildProcess> child_;
  std::move_only_function<void()> stopped_;
  base::Timer timer_;
  base::BootTime spawned_at_;
  base::Milliseconds delay_{};
  bool stopping_ = false;
};

}  // namespace starlease

// A private valkey-server for one test: its own folder, a Unix socket, and on demand TCP and TLS on
// loopback. Ended by its pid.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "daemon/uv/owned_fd.hpp"
#include "tests/support/scratch.hpp"

namespace starlease::valkey::test {

/// Runs a program to its end and gives its exit code.
inline int run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  REQUIRE(posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What makes a server fit.
inline const std::vector<std::string> durable = {
    "--appendonly", "yes", "--appendfsync",      "always",
    "--save",       "",    "--maxmemory-policy", "noeviction"};

class Server {
 public:
  /// Starts on folder/valkey.sock with `options` and waits until it accepts connections.
  explicit Server(std::vector<std::string> options = durable) : options_(std::move(options)) {
    start();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { kill(); }

  [[nodiscard]] std::string socket() const { return folder_.path("valkey.sock"); }
  [[nodiscard]] const starlease::test::Scratch& folder() const { return folder_; }

  /// SIGKILL, as a crash.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  /// Starts again over the same data. REQUIRES: killed.
  void start() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    output_ = uv::OwnedFd(ends[0]);
    const uv::OwnedFd theirs(ends[1]);
    std::vector<std::string> words = {"valkey-server", "--unixsocket", socket(),     "--port", "0",
                                      "--dir",         folder_.path(), "--loglevel", "notice"};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
    REQUIRE(posix_spawnp(&pid_, "valkey-server", &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    await_ready();
  }
  void pause() const { ::kill(pid_, SIGSTOP); }
  void resume() const { ::kill(pid_, SIGCONT); }
  /// Runs one command by valkey-cli; true if that succeeds.
  bool command(std::vector<std::string> words) const {
    words.insert(words.begin(), {"valkey-cli", "-e", "-s", socket()});
    return run(std::move(words)) == 0;
  }

 private:
  /// Its log is written to a pipe, so that its readiness is an event.
  void await_ready() {
    std::string log;
    char buffer[4096];
    while (log.find("Ready to accept connections") == std::string::npos) {
      const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
      CAPTURE(log);
      REQUIRE(got > 0);
      log.append(buffer, static_cast<std::size_t>(got));
    }
    // The socket comes last in a server with several.
    while (::access(socket().c_str(), F_OK) != 0) REQUIRE(::waitpid(pid_, nullptr, WNOHANG) == 0);
  }

  starlease::test::Scratch folder_;
  std::vector<std::string> options_;
  uv::OwnedFd output_;
  pid_t pid_ = 0;
};

}  // namespace starlease::valkey::test

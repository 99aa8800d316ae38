// The private server; see the header.
#include "tests/conformance/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/function_library.hpp"

namespace starlease::conformance {
namespace {

constexpr auto start_limit = std::chrono::seconds(10);
constexpr int look_again_ms = 2;

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "conformance: %s\n", what.c_str());
  std::exit(70);
}

}  // namespace

Server::Server(std::string folder, std::string shim)
    : folder_(std::move(folder)), shim_(std::move(shim)) {
  const std::string path = folder_ + "/clock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof *offset_us_) != 0) give_up("cannot make " + path);
  void* mapped = ::mmap(nullptr, sizeof *offset_us_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) give_up("cannot map " + path);
  ::close(file);
  offset_us_ = static_cast<std::int64_t*>(mapped);
  spawn();
}

Server::~Server() {
  stop();
  ::munmap(offset_us_, sizeof *offset_us_);
}

void Server::spawn() {
  const std::string socket = folder_ + "/valkey.sock";
  pid_ = ::fork();
  if (pid_ < 0) give_up("cannot fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("LD_PRELOAD", shim_.c_str(), 1);
    ::setenv("CLOCKSTEP_FILE", (folder_ + "/clock").c_str(), 1);
    const std::string log = folder_ + "/valkey.log";
    ::execlp("valkey-server", "valkey-server", "--port", "0", "--unixsocket", socket.c_str(),
             "--dir", folder_.c_str(), "--logfile", log.c_str(), "--save", "", "--appendonly",
             "yes", "--appendfsync", "no", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  connect();
  const Reply loaded = send(valkey::encode_library_load());
  if (const auto why = valkey::load_refused(*loaded)) give_up(why->what);
}

void Server::connect() {
  const std::string socket = folder_ + "/valkey.sock";
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  const auto end = std::chrono::steady_clock::now() + start_limit;
  while (std::chrono::steady_clock::now() < end) {
    context_ = redisConnectUnix(socket.c_str());
    if (context_ != nullptr && context_->err == 0) {
      const Reply pong = ask({"PING"});
      if (pong->type == REDIS_REPLY_STATUS) {
        ::close(pidfd);
        return;
      }
    }
    redisFree(context_);
    context_ = nullptr;
    // It tells nobody when it listens, but this ends at once if it dies.
    pollfd ended{pidfd, POLLIN, 0};
    if (::poll(&ended, 1, look_again_ms) > 0) give_up("valkey-server ended; see its log");
  }
  give_up("valkey-server does not listen");
}

void Server::stop() {
  redisFree(context_);
  context_ = nullptr;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

Reply Server::send(std::string_view command) {
  redisAppendFormattedCommand(context_, command.data(), command.size());
  void* reply = nullptr;
  if (redisGetReply(context_, &reply) != REDIS_OK) give_up(context_->errstr);
  return Reply(static_cast<redisReply*>(reply));
}

Reply Server::ask(const std::vector<std::string>& words) {
  valkey::Command command(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) command.arg(std::string_view(words[i]));
  return send(std::move(command).finish());
}

void Server::set_clock(std::int64_t offset_ms) {
  offset_ms_ = offset_ms;
  *offset_us_ = offset_ms * 1000;
}

void Server::restart() {
  stop();
  spawn();
}

void Server::flush() { ask({"FLUSHALL"}); }

Server::Dump Server::dump() {
  Dump dump;
  const Reply keys = ask({"KEYS", "*"});
  for (std::size_t i = 0; i < keys->elements; ++i) {
    const std::string key(keys->element[i]->str, keys->element[i]->len);
    const Reply value = ask({"DUMP", key});
    dump.emplace(key, std::string(value->str, value->len));
  }
  return dump;
}

void Server::restart_with(const Dump& dump) {
  // The times to live are not kept: everything in these programs lives longer than they run.
  flush();
  for (const auto& [key, value] : dump) ask({"RESTORE", key, "3600000", value});
  for (const auto& [key, value] : dump) {
    const bool lives_for_ever =
        key.find("}lease:") == std::string::npos && key.find("}idem:") == std::string::npos;
    if (lives_for_ever) ask({"PERSIST", key});
  }
  restart();
}

}  // namespace starlease::conformance

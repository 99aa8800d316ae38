// A private valkey-server with the built-in function library and a clock that may be stepped, asked
// synchronously. For the conformance programs only.
#pragma once

#include <hiredis/hiredis.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace starlease::conformance {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

class Server {
 public:
  /// `folder` is emptied of nothing and filled; `shim` is clockstep.so. Aborts with a message where
  /// the server cannot be started.
  Server(std::string folder, std::string shim);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// A finished command in wire form. Aborts if the connection breaks.
  Reply send(std::string_view command);
  Reply ask(const std::vector<std::string>& words);

  /// Its clock is off by so much from now on.
  void set_clock(std::int64_t offset_ms);
  [[nodiscard]] std::int64_t clock_offset_ms() const { return offset_ms_; }
  /// Another process with the same data.
  void restart();
  void flush();
  using Dump = std::map<std::string, std::string>;
  Dump dump();
  /// Another process with these data.
  void restart_with(const Dump& dump);

 private:
  void spawn();
  void stop();
  void connect();

  const std::string folder_;
  const std::string shim_;
  std::int64_t* offset_us_ = nullptr;
  std::int64_t offset_ms_ = 0;
  pid_t pid_ = -1;
  redisContext* context_ = nullptr;
};

}  // namespace starlease::conformance

// A server that says what the test tells it to: raw Unix or TCP sockets on the test's own loop. It
// understands only how commands are framed.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/poll.hpp"
#include "tests/unit/valkey/world.hpp"

namespace starlease::valkey::test {

using Words = std::vector<std::string>;

inline const std::string hello_reply =
    "%7\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$7\r\nversion\r\n$5\r\n8.0.1\r\n$5\r\nproto\r\n:3\r\n"
    "$2\r\nid\r\n:3\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
    "$7\r\nmodules\r\n*0\r\n";

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

class ScriptedServer;

/// One accepted connection.
class Peer {
 public:
  Peer(ScriptedServer& server, uv::OwnedFd fd, std::size_t number);

  void write(std::string_view bytes) {
    while (fd_ && !bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) continue;
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void close() {
    poll_.close();
    fd_.reset();
  }
  void stop_reading() { poll_.want(0); }
  [[nodiscard]] bool open() const { return static_cast<bool>(fd_); }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  static void on_ready(void* self, int status, int events);
  void read();
  [[nodiscard]] bool take_command(Words& words);

  ScriptedServer& server_;
  uv::OwnedFd fd_;
  std::size_t number_;
  uv::Poll poll_;
  std::string in_;
};

class ScriptedServer {
 public:
  /// Called for each whole command; HELLO is answered already unless `greets` is off.
  using Handler = std::function<void(Peer&, const Words&)>;

  /// Listens on `path`, or, where that is empty, on a loopback port.
  ScriptedServer(World& world, const std::string& path, Handler handler)
      : world_(world), handler_(std::move(handler)) {
    if (path.empty()) {
      listen_tcp();
    } else {
      listen_unix(path);
    }
    REQUIRE(listener_poll_.open(*world_.loop, listener_.get(), on_accept, this).has_value());
    listener_poll_.want(UV_READABLE);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  void on_command(Handler handler) { handler_ = std::move(handler); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t accepted() const { return peers_.size(); }
  /// The newest connection. REQUIRES: there was one.
  [[nodiscard]] Peer& newest() { return *peers_.back(); }

  /// HELLO is answered with hello_reply.
  bool greets = true;
  /// Bytes are handed to `on_bytes` instead of being read as commands.
  std::function<void(Peer&, std::string_view)> on_bytes;
  /// What each command was, first word only.
  Words seen;

 private:
  friend class Peer;

  void listen_unix(const std::string& path) {
    ::unlink(path.c_str());
    listener_ = uv::OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_.get(), 128) == 0);
  }
  void listen_tcp() {
    listener_ = uv::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_.get(), 128) == 0);
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  static void on_accept(void* self, int, int) {
    auto& server = *static_cast<ScriptedServer*>(self);
    uv::OwnedFd fd(
        ::accept4(server.listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    server.peers_.push_back(std::make_unique<Peer>(server, std::move(fd), server.peers_.size()));
  }
  void handle(Peer& peer, const Words& words) {
    seen.push_back(words[0]);
    if (words[0] == "HELLO" && greets) return peer.write(hello_reply);
    if (handler_) handler_(peer, words);
  }

  World& world_;
  Handler handler_;
  uv::OwnedFd listener_;
  uv::Poll listener_poll_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
};

inline Peer::Peer(ScriptedServer& server, uv::OwnedFd fd, std::size_t number)
    : server_(server), fd_(std::move(fd)), number_(number) {
  REQUIRE(poll_.open(*server_.world_.loop, fd_.get(), on_ready, this).has_value());
  poll_.want(UV_READABLE);
}

inline void Peer::on_ready(void* self, int, int) { static_cast<Peer*>(self)->read(); }

inline void Peer::read() {
  char buffer[65536];
  const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, 0);
  if (got <= 0) return close();
  const std::string_view bytes(buffer, static_cast<std::size_t>(got));
  if (server_.on_bytes) return server_.on_bytes(*this, bytes);
  in_.append(bytes);
  Words words;
  while (fd_ && take_command(words)) server_.handle(*this, words);
}

inline bool Peer::take_command(Words& words) {
  words.clear();
  std::size_t at = 0;
  const auto number = [&](char kind) -> long {
    const std::size_t end = in_.find("\r\n", at);
    if (end == std::string::npos || in_[at] != kind) return -1;
    const long value = std::stol(in_.substr(at + 1, end - at - 1));
    at = end + 2;
    return value;
  };
  const long count = number('*');
  for (long i = 0; i < count; ++i) {
    const long size = number('$');
    if (size < 0 || in_.size() < at + static_cast<std::size_t>(size) + 2) return false;
    words.push_back(in_.substr(at, static_cast<std::size_t>(size)));
    at += static_cast<std::size_t>(size) + 2;
  }
  if (count <= 0) return false;
  in_.erase(0, at);
  return true;
}

}  // namespace starlease::valkey::test

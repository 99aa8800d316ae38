// A TCP relay on the test's loop that hands on every piece later, as a long line does.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "tests/unit/valkey/scripted_server.hpp"

namespace starlease::valkey::test {

class Relay {
 public:
  /// Relays connections to `target` on loopback; each piece takes `delay` in each direction.
  Relay(World& world, std::uint16_t target, Milliseconds delay)
      : world_(world), target_(target), delay_(delay), server_(world, "", nullptr) {
    server_.on_bytes = [this](Peer& peer, std::string_view bytes) { forward(peer, bytes); };
  }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }

 private:
  struct Far {
    Relay* relay = nullptr;
    Peer* near = nullptr;
    uv::OwnedFd fd;
    uv::Poll poll;
  };
  struct Piece {
    base::Timer timer;
  };

  void forward(Peer& peer, std::string_view bytes) {
    if (far_.size() <= peer.number()) far_.resize(peer.number() + 1);
    auto& far = far_[peer.number()];
    if (!far) far = connect(peer);
    later([this, index = peer.number(), text = std::string(bytes)] {
      static_cast<void>(::send(far_[index]->fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
    });
  }
  std::unique_ptr<Far> connect(Peer& peer) {
    auto far = std::make_unique<Far>();
    far->relay = this;
    far->near = &peer;
    far->fd = uv::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(far->fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(far->poll.open(*world_.loop, far->fd.get(), on_far, far.get()).has_value());
    far->poll.want(UV_READABLE);
    return far;
  }
  static void on_far(void* self, int, int) {
    auto* far = static_cast<Far*>(self);
    char buffer[16384];
    const ssize_t got = ::recv(far->fd.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return far->poll.close();
    far->relay->later(
        [near = far->near, text = std::string(buffer, static_cast<std::size_t>(got))] {
          near->write(text);
        });
  }
  void later(std::move_only_function<void()> act) {
    std::erase_if(pieces_, [](const auto& piece) { return !piece->timer; });
    pieces_.push_back(std::make_unique<Piece>());
    Piece* piece = pieces_.back().get();
    piece->timer = world_.timers->at(world_.in(delay_), [piece, act = std::move(act)]() mutable {
      act();
      piece->timer.reset();
    });
  }

  World& world_;
  std::uint16_t target_;
  Milliseconds delay_;
  std::vector<std::unique_ptr<Far>> far_;
  std::deque<std::unique_ptr<Piece>> pieces_;
  ScriptedServer server_;
};

/// A loopback port that was free a moment ago.
inline std::uint16_t free_port(World& world) { return ScriptedServer(world, "", nullptr).port(); }

}  // namespace starlease::valkey::test

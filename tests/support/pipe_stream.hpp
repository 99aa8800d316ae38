// A ByteStream in memory: the test plays the peer. Closing is told on the next turn, as a real
// stream does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/stream.hpp"
#include "lib/base/timers.hpp"
#include "proto-ipc/frame.hpp"

namespace starlease::testing {

/// What the peer of one PipeStream sees and does. Outlives the stream.
struct Peer {
  /// Payloads that the daemon has sent, in order.
  [[nodiscard]] std::vector<std::string> frames() const {
    ipc::FrameDecoder decoder(1 << 20);
    decoder.feed(std::as_bytes(std::span(received)));
    std::vector<std::string> list;
    while (true) {
      const auto frame = decoder.next();
      if (!frame || !*frame) return list;
      list.emplace_back(**frame);
    }
  }
  void send_bytes(std::string_view bytes) {
    if (handler != nullptr && !closed) handler->on_bytes(std::as_bytes(std::span(bytes)));
  }
  void send(std::string_view payload) { send_bytes(ipc::encode_frame(payload)); }

  std::string received;
  base::StreamHandler* handler = nullptr;
  std::size_t outbound_max = 1 << 20;
  bool closed = false;
  bool ended = false;  // no more will come
  bool paused = false;
  bool watched = false;
  base::Timer closing;
};

class PipeStream final : public base::ByteStream {
 public:
  PipeStream(Peer& peer, base::Timers& timers, base::PeerIdentity identity)
      : peer_(peer), timers_(timers), identity_(identity) {}
  ~PipeStream() override {
    peer_.handler = nullptr;
    peer_.closing.reset();
  }

  void start(base::StreamHandler& handler) override { peer_.handler = &handler; }
  [[nodiscard]] bool write(std::string bytes) override {
    if (peer_.received.size() + bytes.size() > peer_.outbound_max) return false;
    if (!peer_.closed) peer_.received += bytes;
    return true;
  }
  void close_after_flush() override { close(); }
  void end_writing() override { peer_.ended = true; }
  void close() override {
    if (std::exchange(peer_.closed, true)) return;
    peer_.closing = timers_.at(base::BootTime::min(), [this] {
      auto* handler = std::exchange(peer_.handler, nullptr);
      if (handler != nullptr) handler->on_closed();
    });
  }
  void pause_reading(bool paused) override { peer_.paused = paused; }
  void watch_peer() override { peer_.watched = true; }
  [[nodiscard]] const base::PeerIdentity& peer() const override { return identity_; }

 private:
  Peer& peer_;
  base::Timers& timers_;
  base::PeerIdentity identity_;
};

/// A Listener that the test feeds.
class PipeListener final : public base::Listener {
 public:
  void start(Accept accept) override { accept_ = std::move(accept); }
  void stop() override { accept_ = nullptr; }
  void connect(std::unique_ptr<base::ByteStream> stream) { accept_(std::move(stream)); }

 private:
  Accept accept_;
};

}  // namespace starlease::testing

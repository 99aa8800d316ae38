// A Unix socket's two ends between a worker and a daemon: bytes in order, in pieces of any size,
// after a while. The daemon's end is the ByteStream seam; the worker's is driven by its script.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/base/stream.hpp"
#include "tests/sim/process.hpp"

namespace starlease::sim {

/// How bytes travel in this world.
struct PipeFaults {
  Nanoseconds usual_delay = 30us;
  Nanoseconds longest_delay = 20ms;
  double split = 0.2;  // probability that a write arrives in pieces
  std::size_t outbound_max = 512 * 1024;
};

/// One direction. Bytes sent arrive at the receiving process, which takes what has come when it
/// runs.
class Lane {
 public:
  Lane(EventQueue& queue, Chance chance, const PipeFaults& faults)
      : queue_(queue), chance_(chance), faults_(faults) {}

  std::weak_ptr<Process> receiver;
  std::function<void(std::string)> on_bytes;  // empty: nobody reads any more
  std::function<void()> on_end;

  void send(const std::shared_ptr<Lane>& self, const std::string& bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
      std::size_t piece = bytes.size() - at;
      if (piece > 1 && chance_.happens(faults_.split)) {
        piece = 1 + static_cast<std::size_t>(chance_.below(piece - 1));
      }
      unread_ += piece;
      arrive(self, bytes.substr(at, piece));
      at += piece;
    }
  }
  /// After everything that was sent.
  void end(const std::shared_ptr<Lane>& self) {
    queue_.at(next_arrival(), [self] {
      self->ended_ = true;
      self->wake(self);
    });
  }
  void pause(const std::shared_ptr<Lane>& self, bool paused) {
    paused_ = paused;
    if (!paused) wake(self);
  }
  [[nodiscard]] std::size_t unread() const { return unread_; }

 private:
  Time next_arrival() {
    last_arrival_ = std::max(
        last_arrival_, queue_.now() + chance_.tail(faults_.usual_delay, faults_.longest_delay));
    return last_arrival_;
  }
  void arrive(const std::shared_ptr<Lane>& self, std::string piece) {
    queue_.at(next_arrival(), [self, piece = std::move(piece)] {
      self->inbox_ += piece;
      self->wake(self);
    });
  }
  void wake(const std::shared_ptr<Lane>& self) {
    if (waking_) return;
    const auto process = receiver.lock();
    if (process == nullptr) return;
    waking_ = true;
    process->enter([self] { self->read(); });
  }
  void read() {
    waking_ = false;
    if (!paused_ && !inbox_.empty()) {
      const std::string bytes = std::exchange(inbox_, {});
      unread_ -= bytes.size();
      if (on_bytes) on_bytes(bytes);
    }
    if (ended_ && inbox_.empty() && on_end) std::exchange(on_end, nullptr)();
  }

  EventQueue& queue_;
  Chance chance_;
  const PipeFaults& faults_;
  std::string inbox_;
  std::size_t unread_ = 0;
  Time last_arrival_{};
  bool ended_ = false;
  bool paused_ = false;
  bool waking_ = false;
};

/// Both directions of a connection.
struct Lanes {
  std::shared_ptr<Lane> to_daemon;
  std::shared_ptr<Lane> to_worker;
};

/// The daemon's end.
class DaemonEnd final : public base::ByteStream {
 public:
  /// Sees every frame that the daemon writes, at the instant at which it does.
  using Tap = std::function<void(const std::string&)>;

  DaemonEnd(std::shared_ptr<Process> process, std::shared_ptr<Lane> in, std::shared_ptr<Lane> out,
            const PipeFaults& faults, const base::PeerIdentity& peer, Tap tap,
            std::function<void()> on_gone)
      : process_(std::move(process)),
        in_(std::move(in)),
        out_(std::move(out)),
        faults_(faults),
        peer_(peer),
        tap_(std::move(tap)),
        on_gone_(std::move(on_gone)) {}
  ~DaemonEnd() override {
    in_->on_bytes = nullptr;
    in_->on_end = nullptr;
    if (!std::exchange(closed_, true) && !ended_) out_->end(out_);
  }

  void start(base::StreamHandler& handler) override {
    handler_ = &handler;
    in_->receiver = process_;
    in_->on_bytes = [this](const std::string& bytes) {
      handler_->on_bytes(std::as_bytes(std::span(bytes)));
    };
    in_->on_end = [this] { end(); };
    in_->pause(in_, false);  // what came before is read now
  }
  [[nodiscard]] bool write(std::string bytes) override {
    if (closed_ || ended_) return true;  // nobody hears it
    if (out_->unread() + bytes.size() > faults_.outbound_max) return false;
    tap_(bytes);
    out_->send(out_, bytes);
    return true;
  }
  void close_after_flush() override { close(); }
  void close() override {
    if (std::exchange(closed_, true)) return;
    if (!ended_) out_->end(out_);
    tell_gone();
    in_->on_bytes = nullptr;
    timer_ = process_->at(base::BootTime::min(), [this] { end(); });
  }
  void end_writing() override {
    if (!std::exchange(ended_, true) && !closed_) out_->end(out_);
  }
  void pause_reading(bool paused) override { in_->pause(in_, paused); }
  [[nodiscard]] const base::PeerIdentity& peer() const override { return peer_; }

 private:
  void end() {
    timer_.reset();
    in_->on_bytes = nullptr;
    in_->on_end = nullptr;
    if (!std::exchange(closed_, true) && !ended_) out_->end(out_);
    tell_gone();
    // The handler frees this object.
    if (auto* handler = std::exchange(handler_, nullptr)) handler->on_closed();
  }

  void tell_gone() {
    if (on_gone_) std::exchange(on_gone_, nullptr)();
  }

  std::shared_ptr<Process> process_;
  std::shared_ptr<Lane> in_;
  std::shared_ptr<Lane> out_;
  const PipeFaults& faults_;
  const base::PeerIdentity peer_;
  Tap tap_;
  std::function<void()> on_gone_;
  base::StreamHandler* handler_ = nullptr;
  base::Timer timer_;
  bool closed_ = false;
  bool ended_ = false;  // end_writing() was called
};

/// A listening socket.
class SimListener final : public base::Listener {
 public:
  void start(Accept accept) override { accept_ = std::move(accept); }
  void stop() override { accept_ = nullptr; }
  [[nodiscard]] bool listens() const { return accept_ != nullptr; }
  void accept(std::unique_ptr<base::ByteStream> stream) { accept_(std::move(stream)); }

 private:
  Accept accept_;
};

}  // namespace starlease::sim

// One peer's connection: bytes to frames to requests, answers and events back to bytes. It knows
// the wire and the order of things on it, nothing of leases. ipc.md "Transport and framing".
#pragma once

#include <memory>
#include <string>

#include "daemon/ipc/endpoint.hpp"
#include "lib/base/stream.hpp"
#include "lib/service/service.hpp"
#include "proto-ipc/frame.hpp"
#include "proto-ipc/request.hpp"

namespace starlease::ipc {

class Connection final : private base::StreamHandler, private service::EventSink {
 public:
  /// `endpoint` owns the connection and outlives it.
  Connection(Endpoint& endpoint, std::uint64_t number, std::unique_ptr<base::ByteStream> stream);

  /// Starts reading.
  void start();
  void close() { stream_->close(); }
  void close_after_flush();
  [[nodiscard]] bool greeted() const { return session_ != service::SessionId::none; }
  [[nodiscard]] core::BootTime accepted_at() const { return accepted_at_; }

 private:
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_closed() override;
  void deliver(const core::Event& event) override;
  void superseded() override;
  void farewell() override;
  void watch_peer() override;

  void take_frames();
  void on_payload(std::string_view payload);
  void on_request(Request request);
  void on_hello(const RequestId& id, const core::HelloCall& call);
  void submit(Request request);
  void answered(const RequestId& id, const service::Reply& reply);
  void refuse(const RequestId& id, core::Failure failure);
  void broken(std::string_view why);
  void send(std::string payload);
  void mind_pressure();
  void depart(service::Departure departure);

  Endpoint& endpoint_;
  const std::uint64_t number_;
  std::unique_ptr<base::ByteStream> stream_;
  FrameDecoder decoder_;
  const core::BootTime accepted_at_;
  service::SessionId session_ = service::SessionId::none;
  std::size_t in_flight_ = 0;
  bool paused_ = false;
  bool taking_frames_ = false;
  /// Read, but beyond max_in_flight: not looked at before others are answered. At most one read.
  std::string unread_;
  /// Nothing that still arrives is handled.
  bool closing_ = false;
  /// We end it, for the peer's fault; it may still rely on what it holds.
  bool cut_off_ = false;
};

}  // namespace starlease::ipc

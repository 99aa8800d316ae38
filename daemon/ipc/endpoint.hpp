// One socket's connections: accepts them, owns them, closes those that never say hello. Loop-free:
// it knows only the seams of lib/base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "lib/base/stream.hpp"
#include "lib/service/service.hpp"
#include "proto-ipc/request_decoder.hpp"

namespace starlease::ipc {

class Connection;

/// Bounds of a connection; the outbound one belongs to the stream.
struct IpcSettings {
  std::size_t max_frame_bytes = 262'144;
  /// Requests of one connection that wait for an answer; past it, reading pauses.
  std::size_t max_in_flight = 128;
  std::size_t max_connections = 12'000;
  core::Milliseconds hello_timeout{10'000};
};

enum class Audience : std::uint8_t { workers, operators };

class Endpoint {
 public:
  /// All must outlive the endpoint.
  Endpoint(const IpcSettings& settings, const service::Seams& seams, base::Listener& listener,
           service::LeaseService& service, Audience audience);
  ~Endpoint();

  void start();
  void stop_accepting() { listener_.stop(); }
  /// Closes every connection once what is queued for it has been written.
  void close_all();

 private:
  friend class Connection;
  void accepted(std::unique_ptr<base::ByteStream> stream);
  /// Called by a connection when its stream has closed; frees it.
  void closed(std::uint64_t number);
  void watch_silence();

  const IpcSettings& settings_;
  const service::Seams& seams_;
  base::Listener& listener_;
  service::LeaseService& service_;
  Audience audience_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // in order of arrival
  std::uint64_t last_number_ = 0;
  RequestDecoder decoder_;  // one parser serves all, one payload at a time
  base::Timer silence_;
};

}  // namespace starlease::ipc

// One hiredis connection, from the first packet to its end: socket, TLS, commands out, replies in.
// It connects once and dies once; who it greets, what it is asked and when to try again is link's
// affair. The only file that talks to hiredis' context.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/uv/loop.hpp"
#include "daemon/valkey/fault.hpp"
#include "daemon/valkey/tls.hpp"
#include "lib/base/result.hpp"

struct redisReply;

namespace starlease::valkey {

/// A place that needs no name resolution: `unix_path`, or a numeric `address` with `port`.
struct Address {
  std::string unix_path;
  std::string address;
  std::uint16_t port = 0;
};

/// No reply of ours is near this; a server that sends more is not the one we know.
inline constexpr std::size_t max_reply_elements = 65536;

class WireListener {
 public:
  virtual ~WireListener() = default;
  /// The socket is connected, and with TLS the handshake begins with the first command: greet now.
  virtual void on_connected() = 0;
  /// The answer to send(id). Replies come in the order of sending; valid during the call.
  virtual void on_reply(std::uint64_t id, const redisReply& reply) = 0;
  /// Something unasked: a message of a subscription, or its confirmation. Valid during the call.
  virtual void on_push(const redisReply& push) = 0;
  /// The connection is gone, or never came. Last call; commands without a reply will get none.
  virtual void on_closed(const Fault& why) = 0;
};

class Wire {
 public:
  /// Starts connecting. Fails at once where there is no socket to be had. `tls` may be null;
  /// otherwise it and `listener` must outlive the wire. Calls no method of `listener` from inside.
  [[nodiscard]] static base::Result<std::unique_ptr<Wire>, Fault> open(uv::Loop& loop,
                                                                       const Address& address,
                                                                       const TlsContext* tls,
                                                                       WireListener& listener);
  /// Closes; no call follows. May be destroyed from inside any call of its listener.
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Hands a finished command over for writing. False: the connection is going down and nothing was
  /// or will be written. REQUIRES: on_connected() has been called.
  [[nodiscard]] bool send(std::string_view command, std::uint64_t id);
  /// Hands over a SUBSCRIBE; what comes of it arrives by on_push().
  [[nodiscard]] bool subscribe(std::string_view command);

  /// The greeting has been answered: no password is in the buffers any more.
  void greeted();
  /// How far the attempt came, for an error that only says that time ran out.
  [[nodiscard]] std::string stage() const;

 private:
  struct Core;
  explicit Wire(Core* core) : core_(core) {}
  /// What hiredis' callbacks see; lives as long as the context. Null once that is gone.
  Core* core_;
};

}  // namespace starlease::valkey

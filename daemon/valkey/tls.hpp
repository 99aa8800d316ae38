// TLS to the server by OpenSSL: the context made from the configured files, sessions whose chain
// and host name are checked, and failures in words. hiredis only moves the bytes.
#pragma once

#include <memory>
#include <string>

#include "daemon/valkey/endpoint.hpp"
#include "daemon/valkey/fault.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace starlease::valkey {

struct FreeSslContext {
  void operator()(ssl_ctx_st* context) const;
};
struct FreeSsl {
  void operator()(ssl_st* session) const;
};
/// One reference to a session; the library counts them.
using TlsSession = std::unique_ptr<ssl_st, FreeSsl>;

class TlsContext {
 public:
  /// Reads the files. The fault names the one that cannot be used. REQUIRES: tls.enabled.
  [[nodiscard]] static base::Result<TlsContext, Fault> load(const Endpoint& endpoint);

  /// A client session that accepts only a certificate for the configured name. Null if memory is
  /// out.
  [[nodiscard]] TlsSession session() const;
  /// The name that is demanded.
  [[nodiscard]] const std::string& server_name() const { return server_name_; }

 private:
  TlsContext() = default;
  std::unique_ptr<ssl_ctx_st, FreeSslContext> context_;
  std::string server_name_;
};

/// Another reference to the same session, so that it can be asked after hiredis has let go of it.
[[nodiscard]] TlsSession share(const TlsSession& session);

/// True once the handshake is over.
[[nodiscard]] bool handshake_done(const TlsSession& session);

/// Why a session failed: certificate, name, protocol, or what the library says.
/// REQUIRES: called before another TLS call on this thread.
[[nodiscard]] Fault explain_tls(const TlsSession& session, const std::string& server_name);

/// True if a TLS call on this thread failed since forget_tls_errors().
[[nodiscard]] bool tls_failed();
/// Forgets errors of earlier calls, which the library would otherwise take for its next one's.
void forget_tls_errors();

}  // namespace starlease::valkey

// OpenSSL behind our own type; see the header.
#include "daemon/valkey/tls.hpp"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace starlease::valkey {
namespace {

/// The library's last complaint, or nothing.
std::string last_complaint() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? std::string() : std::string(reason);
}

auto unusable(std::string_view what, const std::string& file) {
  Fault fault{fmt::format("cannot use {} {}: {}", what, file, last_complaint()),
              "check that the file is there, readable by the daemon, and in PEM form"};
  return base::failed(std::move(fault));
}

base::Result<void, Fault> load_files(SSL_CTX* context, const TlsSettings& settings) {
  const bool trusted = settings.ca_file.empty()
                           ? SSL_CTX_set_default_verify_paths(context) == 1
                           : SSL_CTX_load_verify_file(context, settings.ca_file.c_str()) == 1;
  if (!trusted) return unusable("the authorities in", settings.ca_file);
  if (settings.cert_file.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, settings.cert_file.c_str()) != 1) {
    return unusable("the certificate", settings.cert_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context, settings.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return unusable("the key", settings.key_file);
  }
  return {};
}

Fault explain_certificate(long verdict, const std::string& name) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {fmt::format("the server's certificate is not valid today: {}",
                          X509_verify_cert_error_string(verdict)),
              "renew the server's certificate, or correct this machine's clock"};
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return {fmt::format("the server's certificate is not for \"{}\"", name),
              "set tls.server_name to a name in the certificate, or issue one for this name"};
    default:  // NOLINT: the library's numbers are not ours to close
      return {fmt::format("the server's certificate is not trusted: {}",
                          X509_verify_cert_error_string(verdict)),
              "set tls.ca_file to the authority that signed it"};
  }
}

}  // namespace

void FreeSslContext::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void FreeSsl::operator()(ssl_st* session) const { SSL_free(session); }

base::Result<TlsContext, Fault> TlsContext::load(const Endpoint& endpoint) {
  ERR_clear_error();
  TlsContext tls;
  tls.server_name_ = endpoint.tls.server_name.empty() ? endpoint.host : endpoint.tls.server_name;
  tls.context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = tls.context_.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return base::failed(Fault{"TLS cannot be set up: " + last_complaint(), ""});
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  if (auto files = load_files(context, endpoint.tls); !files) return base::failed(files.error());
  return tls;
}

TlsSession TlsContext::session() const {
  TlsSession session(SSL_new(context_.get()));
  if (!session) return nullptr;
  X509_VERIFY_PARAM* demands = SSL_get0_param(session.get());
  bool named = false;
  if (is_address(server_name_)) {
    named = X509_VERIFY_PARAM_set1_ip_asc(demands, server_name_.c_str()) == 1;
  } else {
    SSL_set_hostflags(session.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    named = SSL_set1_host(session.get(), server_name_.c_str()) == 1 &&
            SSL_set_tlsext_host_name(session.get(), server_name_.c_str()) == 1;
  }
  // Without the demand any trusted certificate would do: no session then.
  return named ? std::move(session) : nullptr;
}

TlsSession share(const TlsSession& session) {
  if (!session || SSL_up_ref(session.get()) != 1) return nullptr;
  return TlsSession(session.get());
}

bool handshake_done(const TlsSession& session) { return SSL_is_init_finished(session.get()) == 1; }

Fault explain_tls(const TlsSession& session, const std::string& server_name) {
  const long verdict = SSL_get_verify_result(session.get());
  if (verdict != X509_V_OK) return explain_certificate(verdict, server_name);
  const unsigned long code = ERR_peek_last_error();
  const int reason = ERR_GET_REASON(code);
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return {"the port answered without TLS",
            "use the server's TLS port (tls-port), not the plain one"};
  }
  const std::string complaint = last_complaint();
  if (complaint.empty() || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {"the connection was closed during the TLS handshake",
            "check that the port speaks TLS and whether the server demands a client certificate"};
  }
  return {"TLS failed: " + complaint,
          "check protocol versions, and whether the server demands a client certificate"};
}

bool tls_failed() { return ERR_peek_last_error() != 0; }
void forget_tls_errors() { ERR_clear_error(); }

}  // namespace starlease::valkey

// Throwaway authority and certificates, made by the openssl program once per test run.
#pragma once

#include <string>

#include "tests/support/scratch.hpp"
#include "tests/unit/valkey/server.hpp"

namespace starlease::valkey::test {

class Certificates {
 public:
  static const Certificates& get() {
    static const Certificates made;
    return made;
  }
  [[nodiscard]] std::string ca() const { return folder_.path("ca.crt"); }
  [[nodiscard]] std::string other_ca() const { return folder_.path("other.crt"); }
  [[nodiscard]] std::string key() const { return folder_.path("server.key"); }
  /// For valkey.test and 127.0.0.1.
  [[nodiscard]] std::string good() const { return folder_.path("good.crt"); }
  [[nodiscard]] std::string expired() const { return folder_.path("expired.crt"); }

  /// Options of a server that speaks TLS on `port` with `certificate`.
  [[nodiscard]] std::vector<std::string> options(std::uint16_t port, const std::string& certificate,
                                                 const char* clients = "no") const {
    return {"--tls-port",
            std::to_string(port),
            "--bind",
            "127.0.0.1",
            "--tls-cert-file",
            certificate,
            "--tls-key-file",
            key(),
            "--tls-ca-cert-file",
            ca(),
            "--tls-auth-clients",
            clients};
  }

 private:
  Certificates() {
    authority("ca");
    authority("other");
    REQUIRE(run({"openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                 "-nodes", "-subj", "/CN=valkey.test", "-keyout", key(), "-out",
                 folder_.path("server.csr")}) == 0);
    folder_.write("names", "subjectAltName=DNS:valkey.test,IP:127.0.0.1");
    sign("good.crt", "2");
    sign("expired.crt", "-1");
  }
  void authority(const std::string& name) {
    REQUIRE(run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=" + name,
                 "-keyout", folder_.path(name + ".key"), "-out", folder_.path(name + ".crt")}) ==
            0);
  }
  void sign(const std::string& name, const std::string& days) {
    REQUIRE(run({"openssl", "x509", "-req", "-in", folder_.path("server.csr"), "-CA", ca(),
                 "-CAkey", folder_.path("ca.key"), "-CAcreateserial", "-days", days, "-extfile",
                 folder_.path("names"), "-out", folder_.path(name)}) == 0);
  }

  starlease::test::Scratch folder_;
};

}  // namespace starlease::valkey::test

// Turns a host name into addresses without blocking the loop (hiredis would block it for as long as
// the name server likes). One question at a time; literal addresses never leave this file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/uv/loop.hpp"
#include "lib/base/result.hpp"

namespace starlease::valkey {

class Resolver {
 public:
  /// Numeric addresses in the order of preference, at least one; or why there are none.
  using Addresses = base::Result<std::vector<std::string>, std::string>;
  using Resolved = std::move_only_function<void(Addresses)>;

  explicit Resolver(uv::Loop& loop) : loop_(loop) {}
  ~Resolver() { cancel(); }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Asks for `host`; `done` comes on a later turn, at most once, and not after cancel() or
  /// destruction. False for what cannot be a name at all. REQUIRES: no question is open.
  [[nodiscard]] bool resolve(const std::string& host, Resolved done);
  void cancel();

 private:
  struct Question;
  uv::Loop& loop_;
  Question* question_ = nullptr;
};

}  // namespace starlease::valkey

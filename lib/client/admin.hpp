// The operator's questions on the admin socket. For the command line only; not installed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <starlease/client.hpp>

#include "lib/base/signing.hpp"

namespace starlease::client {

struct PartitionState {
  std::int64_t partition = 0;
  /// "serving", "grace", "foreign", "closed", "absent" or "corrupt".
  std::string state;
  std::int64_t epoch = 0;
  std::int64_t token_floor = 0;
  std::int64_t sequence = 0;
};

struct NamespaceState {
  std::string name;
  std::vector<PartitionState> partitions;
};

/// What an administrator does to a lease as he has seen it.
struct Invalidation {
  /// force_release or revoke.
  Operation operation = Operation::force_release;
  LeaseInfo lease;
  std::string reason;
  bool is_incident = false;
  /// Empty: a new one.
  std::string request_id;
};

using Statistics = std::vector<std::pair<std::string, std::int64_t>>;

/// A request that anybody may bring to a daemon before `deadline` (milliseconds since 1970): the
/// payload of one frame. The identity must be normalized, as the daemon tells it.
[[nodiscard]] std::string signed_request(const Invalidation& act, const base::SigningKey& key,
                                         const std::string& key_id, std::int64_t deadline_ms);
/// What signed_request() signs.
[[nodiscard]] std::string statement(const Invalidation& act, std::int64_t deadline_ms);

class AdminClient {
 public:
  /// Connects to `options.socket_path`, or STARLEASE_ADMIN_SOCKET, or /run/starlease/admin.sock.
  /// Errors: as Client::connect.
  static Result<AdminClient> connect(ClientOptions options);
  AdminClient(AdminClient&&) noexcept;
  AdminClient& operator=(AdminClient&&) noexcept;
  ~AdminClient();

  Result<NamespaceState> namespace_status(std::chrono::milliseconds timeout);
  /// Declares the namespace new and makes what is missing of it.
  Result<NamespaceState> namespace_init(std::chrono::milliseconds timeout);
  Result<Inspection> inspect(const Identity& identity, std::chrono::milliseconds timeout);
  /// Signs the act with `key` and has it done; the holder is told at once.
  Result<Invalidated> invalidate(const Invalidation& act, const base::SigningKey& key,
                                 const std::string& key_id, std::chrono::milliseconds timeout);
  Result<Statistics> stats(std::chrono::milliseconds timeout);

 private:
  explicit AdminClient(std::unique_ptr<Engine> engine) noexcept;
  std::unique_ptr<Engine> engine_;
};

}  // namespace starlease::client

// The operator's questions on the admin socket. For the command line only; not installed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <starlease/client.hpp>

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

using Statistics = std::vector<std::pair<std::string, std::int64_t>>;

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
  Result<Statistics> stats(std::chrono::milliseconds timeout);

 private:
  explicit AdminClient(std::unique_ptr<Engine> engine) noexcept;
  std::unique_ptr<Engine> engine_;
};

}  // namespace starlease::client

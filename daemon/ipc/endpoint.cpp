// Connections of one socket; see the header.
#include "daemon/ipc/endpoint.hpp"

#include <vector>

#include "daemon/ipc/connection.hpp"

namespace starlease::ipc {

Endpoint::Endpoint(const IpcSettings& settings, const service::Seams& seams,
                   base::Listener& listener, service::LeaseService& service, Audience audience)
    : settings_(settings),
      seams_(seams),
      listener_(listener),
      service_(service),
      audience_(audience) {}

Endpoint::~Endpoint() = default;

void Endpoint::start() {
  listener_.start(
      [this](std::unique_ptr<base::ByteStream> stream) { accepted(std::move(stream)); });
}

void Endpoint::accepted(std::unique_ptr<base::ByteStream> stream) {
  if (connections_.size() >= settings_.max_connections) {
    seams_.log.warning("connection refused: too many", {{"connections", connections_.size()}});
    return;  // dropping the stream closes it
  }
  const std::uint64_t number = ++last_number_;
  auto connection = std::make_unique<Connection>(*this, number, std::move(stream));
  Connection& accepted = *connection;
  connections_.emplace(number, std::move(connection));
  accepted.start();
  if (!silence_) watch_silence();
}

void Endpoint::closed(std::uint64_t number) { connections_.erase(number); }

void Endpoint::close_all() {
  for (auto& [number, connection] : connections_) connection->close_after_flush();
}

/// One timer for all: closes connections that have not said hello in time. Those that come later
/// are later in the map, so the walk ends at the first that still has time.
void Endpoint::watch_silence() {
  const core::BootTime now = seams_.clock.boot_now();
  core::BootTime next = now + settings_.hello_timeout;
  for (auto& [number, connection] : connections_) {
    if (connection->greeted()) continue;
    const core::BootTime due = connection->accepted_at() + settings_.hello_timeout;
    if (due > now) {
      next = due;
      break;
    }
    connection->close();
  }
  silence_ = seams_.timers.at(next, [this] { watch_silence(); });
}

}  // namespace starlease::ipc

// `starlease acquire`: takes a lease and holds it until standard input closes or a signal comes, or
// leaves it to later commands.
#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "lib/cli/commands.hpp"
#include "lib/cli/signals.hpp"

namespace starlease::cli {
namespace {

/// Reads what is there and drops it. False at the end of the input.
bool drain_input() {
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Returns when the lease is to be given back or is lost.
void hold(Client& client, const Lease& lease, SignalQueue& signals) {
  while (!lease.lost()) {
    std::array<pollfd, 3> items = {
        {{client.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ::poll(items.data(), items.size(), -1);
    if (items[1].revents != 0 && signals.next()) return;
    if (items[2].revents != 0 && !drain_input()) return;
    (void)client.process();  // a fatal failure loses the lease
  }
}

}  // namespace

ExitCode acquire(const Context& context, const AcquireArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  AcquireOptions options = arguments.options;
  options.timeout = context.common.timeout;
  auto lease = client->acquire(options);
  if (!lease) return context.output.failure(lease.error(), options.wait > Duration(0));
  // Before the grant is told: whoever reads it may send a signal at once.
  SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  context.output.grant("lease_acquired", lease->grant(),
                       arguments.detach ? &client->session() : nullptr);
  if (arguments.detach) {
    lease->forget();
    return ExitCode::ok;
  }
  client->on_event([&](const Event& event) {
    if (event.kind != EventKind::lease_renewed) context.output.event(event);
  });
  hold(*client, *lease, signals);
  if (lease->lost()) return ExitCode::lost;
  const auto released = client->release(std::move(*lease), {context.timeout(), {}});
  if (!released) return context.output.failure(released.error());
  context.output.released(*released);
  return ExitCode::ok;
}

}  // namespace starlease::cli

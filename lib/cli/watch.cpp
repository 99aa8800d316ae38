// `starlease watch`: prints what the daemon tells unasked, or how one lease changes.
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "lib/cli/commands.hpp"
#include "lib/cli/signals.hpp"
#include "lib/client/boot_clock.hpp"

namespace starlease::cli {
namespace {

/// Waits for the client's events for `time`; true if a signal ends the watch.
bool wait_for(Client& client, SignalQueue& signals, Duration time) {
  const auto end = client::boot_now() + time;
  while (true) {
    const auto left = base::floor_ms(end - client::boot_now()) + Duration(1);
    if (left <= Duration(0)) return false;
    std::array<pollfd, 2> items = {{{client.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(items.data(), items.size(), static_cast<int>(std::min(left, Duration(60'000)).count()));
    if (signals.next()) return true;
    (void)client.process();
  }
}

/// What is printed again only when it has changed.
std::string summary(const Result<Inspection>& found) {
  if (!found) return std::string(name(found.error().code));
  const LeaseInfo& lease = found->lease;
  return lease.lease_id + std::string(name(lease.state)) + to_rfc3339(lease.expires_at);
}

ExitCode watch_lease(const Context& context, const WatchArguments& arguments, Client& client,
                     SignalQueue& signals) {
  std::string last;
  do {
    const auto found = arguments.target.identity
                           ? client.inspect(*arguments.target.identity, context.timeout())
                           : client.inspect_lease(arguments.target.lease_id, context.timeout());
    const std::string now = summary(found);
    if (now != std::exchange(last, now)) {
      if (found) {
        context.output.inspection(*found);
      } else {
        const Error& error = found.error();
        const ExitCode code = context.output.failure(error);
        // Nobody holds it now: that is news, and may change.
        const bool goes_on = error.retryable() || error.code == ErrorCode::lease_not_found;
        if (!goes_on) return code;
      }
    }
  } while (!wait_for(client, signals, arguments.interval));
  return ExitCode::ok;
}

}  // namespace

ExitCode watch(const Context& context, const WatchArguments& arguments) {
  ClientOptions options = context.client_options();
  options.watch_backend = true;
  auto client = Client::connect(options);
  if (!client) return context.output.failure(client.error());
  SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  client->on_event([&](const Event& event) { context.output.event(event); });
  const bool one_lease = arguments.target.identity || !arguments.target.lease_id.empty();
  if (one_lease) return watch_lease(context, arguments, *client, signals);
  Event now;
  now.kind = EventKind::backend_state;
  now.backend = client->session().backend;
  context.output.event(now);
  while (!wait_for(*client, signals, Duration(3'600'000))) {
  }
  return ExitCode::ok;
}

}  // namespace starlease::cli

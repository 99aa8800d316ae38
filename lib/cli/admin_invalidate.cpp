// `starlease admin keygen`, `force-release` and `revoke`: shows what is about to be broken, and
// signs it.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "lib/cli/admin_key.hpp"
#include "lib/cli/commands.hpp"
#include "lib/client/admin.hpp"
#include "proto-ipc/json_writer.hpp"

namespace starlease::cli {
namespace {

Error refusal(ErrorCode code, std::string field, std::string message) {
  Error error;
  error.code = code;
  error.field = std::move(field);
  error.message = std::move(message);
  return error;
}

/// True once somebody has said that he means this very lease.
Result<void> confirmed(const Context& context, const InvalidateArguments& arguments,
                       const LeaseInfo& lease) {
  if (arguments.token) {
    if (*arguments.token == lease.fencing_token) return {};
    return refusal(ErrorCode::lease_lost, "--token",
                   "The lease that is held now has fencing token " +
                       std::to_string(lease.fencing_token) + "; look at it and decide again");
  }
  if (arguments.yes) return {};
  const Error missing = refusal(ErrorCode::invalid_lease_request, "--token",
                                "Give the fencing token of the lease that you mean, or --yes");
  if (::isatty(STDIN_FILENO) == 0) return missing;
  context.output.warn(lease_rows(lease) + "Its holder will be stopped. Type the fencing token: ");
  std::string typed;
  std::getline(std::cin, typed);
  if (typed == std::to_string(lease.fencing_token)) return {};
  return missing;
}

client::Invalidation act_of(const InvalidateArguments& arguments, const LeaseInfo& lease) {
  client::Invalidation act;
  act.operation = arguments.operation;
  act.lease = lease;
  act.is_incident = !arguments.incident.empty();
  act.reason = act.is_incident ? arguments.incident : arguments.reason;
  act.request_id = arguments.request_id;
  return act;
}

/// For whoever brings it to a daemon: the statement to read, and the request as it is sent.
ExitCode sign(const Context& context, const InvalidateArguments& arguments, const AdminKey& key) {
  LeaseInfo lease;
  lease.identity = arguments.identity;
  lease.lease_id = arguments.lease_id;
  lease.fencing_token = arguments.token.value_or(0);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto deadline = std::chrono::duration_cast<Duration>(now) + arguments.valid_for;
  client::Invalidation act = act_of(arguments, lease);
  if (act.request_id.empty()) act.request_id = "sign-" + std::to_string(now.count());
  const std::string statement = client::statement(act, deadline.count());
  const std::string request = client::signed_request(act, key.key, key.id, deadline.count());
  ipc::JsonWriter writer;
  writer.text("status", "success").raw("statement", statement).raw("request", request);
  context.output.print(writer.finish(), request + "\n");
  return ExitCode::ok;
}

}  // namespace

ExitCode keygen(const Context& context, const KeygenArguments& arguments) {
  const auto key = make_admin_key(arguments.file, arguments.id);
  if (!key) return context.output.failure(key.error());
  const std::string entry = public_entry(*key);
  ipc::JsonWriter writer;
  writer.text("status", "success").text("key_id", key->id).text("entry", entry);
  context.output.print(writer.finish(), "keep " + arguments.file +
                                            " to yourself; the daemon's configuration gets\n"
                                            "administrators.keys = [\"" +
                                            entry + "\"]\n");
  return ExitCode::ok;
}

ExitCode invalidate(const Context& context, const InvalidateArguments& arguments) {
  const auto key = read_admin_key(arguments.key_file);
  if (!key) return context.output.failure(key.error());
  if (arguments.only_sign) return sign(context, arguments, *key);
  ClientOptions options = context.client_options();
  options.socket_path = context.common.admin_socket;
  auto client = client::AdminClient::connect(options);
  if (!client) return context.output.failure(client.error());
  const auto seen = client->inspect(arguments.identity, context.timeout());
  if (!seen) return context.output.failure(seen.error());
  if (seen->lease.state != LeaseState::active) {
    return context.output.failure(
        refusal(ErrorCode::lease_lost, {},
                "Nobody holds this lease now; it was " + std::string(name(seen->lease.state))));
  }
  if (const auto sure = confirmed(context, arguments, seen->lease); !sure) {
    return context.output.failure(sure.error());
  }
  const auto done =
      client->invalidate(act_of(arguments, seen->lease), key->key, key->id, context.timeout());
  if (!done) return context.output.failure(done.error());
  context.output.invalidated(*done, arguments.operation);
  return ExitCode::ok;
}

}  // namespace starlease::cli

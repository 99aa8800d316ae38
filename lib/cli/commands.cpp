// The commands that ask once and print the answer, and the choice among all; see the header.
#include "lib/cli/commands.hpp"

#include "proto-ipc/json_writer.hpp"

namespace starlease::cli {

ClientOptions Context::client_options() const {
  ClientOptions options;
  options.socket_path = common.socket;
  options.name = "starlease/" STARLEASE_VERSION;
  options.service_instance_id = common.instance;
  options.resume = common.resume;
  options.connect_timeout = timeout();
  return options;
}

namespace {

CallOptions call_options(const Context& context, const LeaseArguments& arguments) {
  return {context.timeout(), arguments.request_id};
}

/// Prints a result by `print`, or its failure.
template <class T, class Print>
ExitCode finish(const Context& context, const Result<T>& result, Print&& print) {
  if (!result) return context.output.failure(result.error());
  print(*result);
  return ExitCode::ok;
}

ExitCode version(const Context& context) {
  ipc::JsonWriter writer;
  writer.text("version", STARLEASE_VERSION);
  context.output.print(writer.finish(), "starlease " STARLEASE_VERSION);
  return ExitCode::ok;
}

}  // namespace

ExitCode ping(const Context& context, const PingArguments&) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  return finish(context, client->ping(context.timeout()),
                [&](const Pong& pong) { context.output.pong(pong, client->session()); });
}

ExitCode renew(const Context& context, const RenewArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto renewed = client->renew_by_id(arguments.lease_id, arguments.token, arguments.ttl,
                                           call_options(context, arguments));
  return finish(context, renewed,
                [&](const Grant& grant) { context.output.grant("lease_renewed", grant, nullptr); });
}

ExitCode release(const Context& context, const ReleaseArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto released =
      client->release_by_id(arguments.lease_id, arguments.token, call_options(context, arguments));
  return finish(context, released,
                [&](const Released& result) { context.output.released(result); });
}

ExitCode inspect(const Context& context, const InspectArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto found = arguments.identity
                         ? client->inspect(*arguments.identity, context.timeout())
                         : client->inspect_lease(arguments.lease_id, context.timeout());
  return finish(context, found,
                [&](const Inspection& result) { context.output.inspection(result); });
}

ExitCode resolve(const Context& context, const ResolveArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto resolved = client->resolve(arguments.request_id, arguments.operation,
                                        arguments.identity, context.timeout());
  return finish(context, resolved, [&](const Resolution& result) {
    context.output.resolution(result, arguments.operation);
  });
}

int perform(const Invocation& invocation) {
  const Output output(invocation.common.json);
  const Context context{invocation.common, output};
  struct Visitor {
    const Context& context;
    ExitCode operator()(const PingArguments& a) const { return ping(context, a); }
    ExitCode operator()(const AcquireArguments& a) const { return acquire(context, a); }
    ExitCode operator()(const RenewArguments& a) const { return renew(context, a); }
    ExitCode operator()(const ReleaseArguments& a) const { return release(context, a); }
    ExitCode operator()(const InspectArguments& a) const { return inspect(context, a); }
    ExitCode operator()(const ResolveArguments& a) const { return resolve(context, a); }
    ExitCode operator()(const WatchArguments& a) const { return watch(context, a); }
    ExitCode operator()(const RunArguments& a) const { return run(context, a); }
    ExitCode operator()(const CommitArguments& a) const { return commit(context, a); }
    ExitCode operator()(const DocumentArguments& a) const { return document(context, a); }
    ExitCode operator()(const KeygenArguments& a) const { return keygen(context, a); }
    ExitCode operator()(const InvalidateArguments& a) const { return invalidate(context, a); }
    ExitCode operator()(const DeployArguments& a) const { return deploy(context, a); }
    ExitCode operator()(const NamespaceArguments& a) const {
      return namespace_operation(context, a);
    }
    ExitCode operator()(const StatsArguments& a) const { return stats(context, a); }
    ExitCode operator()(const ExitCodesArguments&) const {
      context.output.exit_codes();
      return ExitCode::ok;
    }
    ExitCode operator()(const VersionArguments&) const { return version(context); }
    ExitCode operator()(const ListArguments& a) const { return list(context, a); }
    ExitCode operator()(const HistoryArguments& a) const { return history(context, a); }
  };
  return static_cast<int>(std::visit(Visitor{context}, invocation.command));
}

}  // namespace starlease::cli

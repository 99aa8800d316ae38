// The commands, each a function from its arguments to an exit code. What they print goes through
// Output; what they know of the daemon through the client library.
#pragma once

#include "lib/cli/arguments.hpp"
#include "lib/cli/output.hpp"

namespace starlease::cli {

/// What a command works with.
struct Context {
  const CommonArguments& common;
  const Output& output;

  /// The time for one operation.
  [[nodiscard]] Duration timeout() const { return common.timeout.value_or(Duration(5000)); }
  /// How to connect, as the command line says.
  [[nodiscard]] ClientOptions client_options() const;
};

ExitCode ping(const Context& context, const PingArguments& arguments);
ExitCode acquire(const Context& context, const AcquireArguments& arguments);
ExitCode renew(const Context& context, const RenewArguments& arguments);
ExitCode release(const Context& context, const ReleaseArguments& arguments);
ExitCode inspect(const Context& context, const InspectArguments& arguments);
ExitCode resolve(const Context& context, const ResolveArguments& arguments);
ExitCode watch(const Context& context, const WatchArguments& arguments);
/// Runs a command under a lease (run.cpp); the command's own exit status where it has one.
ExitCode run(const Context& context, const RunArguments& arguments);
/// Signs with the key of a file and ends the lease that is held.
ExitCode invalidate(const Context& context, const InvalidateArguments& arguments);
ExitCode keygen(const Context& context, const KeygenArguments& arguments);
ExitCode commit(const Context& context, const CommitArguments& arguments);
ExitCode document(const Context& context, const DocumentArguments& arguments);
ExitCode list(const Context& context, const ListArguments& arguments);
ExitCode history(const Context& context, const HistoryArguments& arguments);
/// Replaces this process with starleased; returns only if that fails.
ExitCode deploy(const Context& context, const DeployArguments& arguments);
ExitCode namespace_operation(const Context& context, const NamespaceArguments& arguments);
ExitCode stats(const Context& context, const StatsArguments& arguments);

/// Does what the command line says.
int perform(const Invocation& invocation);

}  // namespace starlease::cli

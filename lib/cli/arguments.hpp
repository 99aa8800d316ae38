// The command line of starlease as values. The only file besides its source that knows what can be
// typed; it does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <starlease/client.hpp>

#include "lib/cli/exit_codes.hpp"

namespace starlease::cli {

using Duration = std::chrono::milliseconds;

/// What every command takes.
struct CommonArguments {
  /// Empty: STARLEASE_SOCKET, or the default.
  std::string socket;
  /// Empty: STARLEASE_ADMIN_SOCKET, or the default.
  std::string admin_socket;
  bool json = false;
  std::optional<Duration> timeout;
  /// A session to take over; both or neither.
  std::string instance;
  std::string resume;
};

struct PingArguments {};

struct AcquireArguments {
  AcquireOptions options;
  /// Leave the lease to a later command instead of holding it.
  bool detach = false;
};

/// A lease by its id and token, with how to ask.
struct LeaseArguments {
  std::string lease_id;
  std::int64_t token = 0;
  std::optional<Duration> ttl;
  std::string request_id;
};
struct RenewArguments : LeaseArguments {};
struct ReleaseArguments : LeaseArguments {};

/// Exactly one of the two.
struct InspectArguments {
  std::optional<Identity> identity;
  std::string lease_id;
};

struct ResolveArguments {
  Identity identity;
  std::string request_id;
  Operation operation{};
};

/// Without a target: the backend and the daemon.
struct WatchArguments {
  InspectArguments target;
  Duration interval{1000};
};

struct RunArguments {
  AcquireOptions options;
  /// Between TERM and KILL. Absent: as much as validity leaves, at most 5 s.
  std::optional<Duration> kill_after;
  std::vector<std::string> command;
};

struct CommitArguments {
  std::string envelope_json;
  /// Nothing: only authorize.
  std::optional<DocumentWrite> write;
  /// Where the body comes from; empty: standard input.
  std::string body_file;
  std::string request_id;
};

struct DocumentArguments {
  Identity identity;
  std::string name;
};

/// At most `limit` in all; nothing: all there are.
struct ListArguments {
  ListFilter filter;
  std::optional<std::int64_t> limit;
};
struct HistoryArguments {
  Identity identity;
  std::optional<std::int64_t> limit;
};

struct DeployArguments {
  std::vector<std::string> arguments;
};
struct NamespaceArguments {
  bool init = false;
};
struct StatsArguments {};
struct KeygenArguments {
  std::string file;
  std::string id = "admin";
};
struct InvalidateArguments {
  /// Only sign, away from any daemon: lease_id and token say what was seen.
  bool only_sign = false;
  std::string lease_id;
  Duration valid_for{60'000};
  /// force_release or revoke.
  Operation operation = Operation::force_release;
  Identity identity;
  std::string key_file;
  /// One of the two.
  std::string reason;
  std::string incident;
  /// How it is confirmed that this very lease is meant; neither: asked for on the terminal.
  std::optional<std::int64_t> token;
  bool yes = false;
  std::string request_id;
};
struct ExitCodesArguments {};
struct VersionArguments {};

using Command =
    std::variant<PingArguments, AcquireArguments, RenewArguments, ReleaseArguments,
                 InspectArguments, ResolveArguments, WatchArguments, RunArguments, CommitArguments,
                 DocumentArguments, DeployArguments, NamespaceArguments, StatsArguments,
                 ExitCodesArguments, VersionArguments, KeygenArguments, InvalidateArguments,
                 ListArguments, HistoryArguments>;

struct Invocation {
  CommonArguments common;
  Command command;
};

/// Nothing is to be done: say this and leave.
struct Farewell {
  ExitCode code = ExitCode::ok;
  /// To standard output for ExitCode::ok, to standard error otherwise.
  std::string text;
};

/// Parses the command line; --help and mistakes are a Farewell.
[[nodiscard]] std::variant<Invocation, Farewell> parse_arguments(int argc, const char* const* argv);

}  // namespace starlease::cli

// What the exit status of starlease means. Stable: scripts rely on it. The codes lie where programs
// under `starlease run` seldom have theirs; 126 and 127 mean what they mean in a shell.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <starlease/error.hpp>

namespace starlease::cli {

enum class ExitCode : std::uint8_t {
  ok = 0,
  cannot_execute = 126,
  not_found = 127,
  usage = 200,
  no_daemon = 201,
  denied = 202,
  conflict = 203,
  timed_out = 204,
  lost = 205,
  unavailable = 206,
  outcome_unknown = 207,
  rate_limited = 208,
  no_such_lease = 209,
  request_id_reused = 210,
  internal = 211,
  commit_conflict = 212,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

/// Every code of ours, in order; `starlease exit-codes` prints it and docs/cli.md repeats it.
inline constexpr std::array<ExitCodeRow, 16> exit_code_table = {{
    {ExitCode::ok, "ok", "done"},
    {ExitCode::cannot_execute, "cannot_execute", "run: CMD is there but could not be started"},
    {ExitCode::not_found, "not_found", "run: CMD was not found"},
    {ExitCode::usage, "usage", "the command line or an input is not valid"},
    {ExitCode::no_daemon, "no_daemon", "no daemon answers on the socket"},
    {ExitCode::denied, "denied", "this user or credential may not do this"},
    {ExitCode::conflict, "conflict", "the lease is held by another"},
    {ExitCode::timed_out, "timed_out", "--wait or --timeout ended before the lease was free"},
    {ExitCode::lost, "lost", "the lease was lost; run: CMD was stopped because of it"},
    {ExitCode::unavailable, "unavailable", "the lease store gives no safe answer now"},
    {ExitCode::outcome_unknown, "outcome_unknown",
     "it may have been done; repeat it with the same --request-id"},
    {ExitCode::rate_limited, "rate_limited", "too much at once; retry later"},
    {ExitCode::no_such_lease, "no_such_lease", "there is no such lease or document"},
    {ExitCode::request_id_reused, "request_id_reused",
     "the request id was used before with other inputs"},
    {ExitCode::internal, "internal", "client and daemon do not fit together, or the system failed"},
    {ExitCode::commit_conflict, "commit_conflict",
     "commit: what stands there does not allow the write"},
}};

/// The exit code for a failed operation; `waited`: the caller had asked to wait for the lease.
[[nodiscard]] ExitCode exit_code(ErrorCode code, bool waited = false);

/// What to do about it, as the end of a sentence; empty where the message itself says it.
[[nodiscard]] std::string_view advice(ErrorCode code, bool waited = false);

}  // namespace starlease::cli

// The descendants of this process: found through /proc, signalled through pidfds so that a number
// that was used again is never hit. With the subreaper set, what double-forks stays a descendant.
#pragma once

#include <sys/types.h>

#include <vector>

namespace starlease::cli {

/// Makes this process the parent of its orphaned descendants.
void become_subreaper();

/// All living descendants of this process, zombies left out. A process that is being made meanwhile
/// may be missed: look again.
[[nodiscard]] std::vector<pid_t> descendants();

/// Sends `signal` to every descendant; returns how many there were.
std::size_t signal_descendants(int signal);

}  // namespace starlease::cli

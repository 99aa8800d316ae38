// How granted, renewed and released leases are told to a worker: one place for acquire, renew,
// release and resolve.
#pragma once

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// What a grant's answer needs beside the store's result.
struct GrantContext {
  core::LockDigest digest;
  core::LockIdentity identity;
  core::WorkIds work;
  bool renewed = false;
};

/// An answer for a lease that the daemon holds now.
[[nodiscard]] core::GrantAnswer answer_for_held(const HeldLease& lease, BootTime now, bool renewed);

/// An answer for a grant that is not held here (a replay of a lease that has ended, or resolve).
[[nodiscard]] core::GrantAnswer answer_for_past(const GrantContext& context,
                                                const core::Grant& grant, core::LeaseState state,
                                                BootTime now);

/// The store's answer to release as the worker's.
[[nodiscard]] core::ReleasedAnswer answer_for_release(const core::LeaseId& lease_id,
                                                      core::FencingToken token,
                                                      const store::ReleaseResult& result);

/// A commit that was done, and one that was not.
[[nodiscard]] core::CommittedAnswer answer_for_commit(const store::CommitResult& result);
/// An administrator's act that was done.
[[nodiscard]] core::InvalidatedAnswer answer_for_invalidation(const store::InvalidateResult& result,
                                                              core::Operation operation);
[[nodiscard]] core::Failure commit_failure(const store::CommitResult& result);

}  // namespace starlease::service

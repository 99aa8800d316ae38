// Store commands to FCALLs of the function library: names, keys and arguments exactly as
// lua/README.md lists them. Pure; the inverse is decode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/valkey/partition_keys.hpp"
#include "lib/store/commands.hpp"

namespace starlease::valkey {

/// Each gives a finished command for the partition. `deadline_ms` is in backend time, 0 for none.
[[nodiscard]] std::string encode_acquire(const std::string& gate,
                                         const store::AcquireCommand& command,
                                         std::int64_t deadline_ms);
[[nodiscard]] std::string encode_renew_timed(const std::string& gate,
                                             const std::vector<store::TimedRenewal>& renewals,
                                             std::int64_t deadline_ms);
[[nodiscard]] std::string encode_renew(const std::string& gate, const store::RenewCommand& command,
                                       std::int64_t deadline_ms);
[[nodiscard]] std::string encode_release(const std::string& gate,
                                         const store::ReleaseCommand& command,
                                         std::int64_t deadline_ms);
[[nodiscard]] std::string encode_commit(const std::string& gate,
                                        const store::CommitCommand& command,
                                        std::int64_t deadline_ms);
[[nodiscard]] std::string encode_invalidate(const std::string& gate,
                                            const store::InvalidateCommand& command,
                                            std::int64_t deadline_ms);
[[nodiscard]] std::string encode_document(const std::string& gate,
                                          const store::DocumentCommand& command);
[[nodiscard]] std::string encode_list(const std::string& gate, const store::ListCommand& command);
[[nodiscard]] std::string encode_history(const std::string& gate,
                                         const store::HistoryCommand& command);
[[nodiscard]] std::string encode_inspect(const std::string& gate,
                                         const store::InspectCommand& command);
[[nodiscard]] std::string encode_resolve(const std::string& gate,
                                         const store::ResolveCommand& command);
[[nodiscard]] std::string encode_sweep(const std::string& gate, const store::SweepCommand& command);
[[nodiscard]] std::string encode_gate_read(const std::string& gate);
[[nodiscard]] std::string encode_gate_init(const std::string& gate, const PartitionKeys& keys,
                                           const store::InitGateCommand& command);
/// `wall_ms` is the daemon's wall clock, for the function to compare with the backend's.
[[nodiscard]] std::string encode_recover(const std::string& gate, const PartitionKeys& keys,
                                         const store::RecoverCommand& command,
                                         std::int64_t wall_ms);
/// The library's revision; needs no key.
[[nodiscard]] std::string encode_version();

}  // namespace starlease::valkey

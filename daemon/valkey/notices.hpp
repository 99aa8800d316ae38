// The second connection: subscribes to every partition's channel and hands notices on. Hints only;
// what is lost while it is down is lost, and nobody is told, as every waiter has a timer of its
// own.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/valkey/link.hpp"
#include "daemon/valkey/partition_keys.hpp"
#include "lib/store/store_events.hpp"

namespace starlease::valkey {

/// A notice's payload as lua/README.md has it; nothing for anything else.
[[nodiscard]] std::optional<store::Notice> parse_notice(std::string_view payload,
                                                        std::uint32_t partition);

class Notices final : private LinkOwner {
 public:
  /// All outlive this.
  Notices(const LinkSeams& seams, const Endpoint& endpoint, const PartitionKeys& keys);

  /// Begins connecting; `listener` outlives this. REQUIRES: called once.
  void start(store::StoreListener& listener);

 private:
  void on_link_up(const redisReply& hello) override;
  void on_link_down(const Fault&) override {}
  void on_attempt_failed(const Fault&) override {}
  void on_push(const redisReply& push) override;

  base::Log& log_;
  const PartitionKeys& keys_;
  store::StoreListener* listener_ = nullptr;
  Link link_;
};

}  // namespace starlease::valkey

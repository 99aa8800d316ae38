// Loads the function library once, with a deployer's credentials, and looks whether it arrived:
// `starleased --deploy-functions`. No leases, no subscriptions, no second attempt.
#pragma once

#include <functional>
#include <optional>

#include "daemon/valkey/link.hpp"

namespace starlease::valkey {

struct Deployed {
  std::int64_t revision = 0;
  /// What the server had before; nothing if it had none, or the user may not ask.
  std::optional<std::int64_t> before;
};

class Deploy final : private LinkOwner {
 public:
  using Done = std::move_only_function<void(base::Result<Deployed, Fault>)>;

  /// All outlive this. REQUIRES: check_endpoint() accepts `endpoint`.
  Deploy(const LinkSeams& seams, const Endpoint& endpoint);

  /// Connects and loads. A newer revision on the server is left alone, which is a fault. `done`
  /// comes once, on a later turn, at the latest after a few times the connect timeout.
  void start(Done done);

 private:
  using Step = void (Deploy::*)(const redisReply&);
  void on_link_up(const redisReply& hello) override;
  void on_link_down(const Fault& why) override { conclude(base::failed(why)); }
  void on_attempt_failed(const Fault& why) override { conclude(base::failed(why)); }
  void on_push(const redisReply&) override {}
  void ask(const std::string& command, Step next);
  void on_version_before(const redisReply& reply);
  void on_loaded(const redisReply& reply);
  void on_version_after(const redisReply& reply);
  void conclude(base::Result<Deployed, Fault> result);

  const base::Clock& clock_;
  const Endpoint& endpoint_;
  Deployed deployed_;
  bool may_ask_ = true;
  Done done_;
  Link link_;
};

}  // namespace starlease::valkey

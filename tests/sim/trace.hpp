// Everything that is observed, as lines and as one number: the same seed must give the same.
#pragma once

#include <cstdio>
#include <string>

#include "tests/sim/observer.hpp"

namespace starlease::sim {

class Trace final : public Observer {
 public:
  explicit Trace(bool print) : print_(print) {}

  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  void acquired(Time, const store::AcquireCommand&, const store::AcquireResult&) override;
  void renewed(Time, const store::Holder&, store::Status, core::BackendTime,
               const store::Head&) override;
  void released(Time, const store::ReleaseCommand&, const store::ReleaseResult&) override;
  void committed(Time, const store::CommitCommand&, const store::CommitResult&) override;
  void recovered(Time, std::uint32_t, const store::RecoverResult&) override;
  void data_lost(Time now) override { line(now, "server  lost data"); }
  void clock_jumped(Time now) override { line(now, "server  clock jumped ahead"); }
  void wrote(Time, const Written&) override;
  void hung_up(Time now, std::uint64_t connection) override {
    line(now, "daemon  hung up on " + std::to_string(connection));
  }
  void daemon_died(Time now, std::uint64_t daemon) override {
    line(now, "daemon  " + std::to_string(daemon) + " died");
  }
  void believes(Time, const Belief&) override;
  void believes_no_more(Time, std::uint64_t worker, const core::LeaseId&) override;

 private:
  void line(Time now, const std::string& text);

  const bool print_;
  std::uint64_t digest_ = 0xcbf29ce484222325ULL;
};

}  // namespace starlease::sim

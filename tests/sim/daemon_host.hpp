// A daemon of the world: the production object over simulated seams, with what survives its death
// (the local state) and what does not.
#pragma once

#include <memory>

#include "daemon/daemon.hpp"
#include "tests/sim/link.hpp"
#include "tests/sim/observer.hpp"
#include "tests/sim/pipe.hpp"
#include "tests/sim/scenario.hpp"

namespace starlease::sim {

class DaemonHost final : private service::LocalState,
                         private service::AuditSink,
                         private base::Log {
 public:
  /// What a connection's answers belong to; null where the worker has forgotten the question.
  using Asked = std::function<const core::Call*(const ipc::RequestId&)>;

  DaemonHost(EventQueue& queue, const Host& host, Backend& backend, Chance chance, const Plan& plan,
             DaemonSettings settings, std::vector<Observer*>& observers, std::uint64_t& last_number,
             std::function<void(std::string)> unreadable);
  ~DaemonHost() override;

  void start();
  /// SIGKILL; started again after `down`.
  void crash(Nanoseconds down);
  /// SIGTERM, and started again after `down` once it has ended.
  void drain(Nanoseconds down);
  [[nodiscard]] bool accepts() const { return life_ && life_->workers.listens(); }
  [[nodiscard]] bool draining() const { return life_ && life_->draining; }
  [[nodiscard]] Process* process() { return life_ ? life_->process.get() : nullptr; }
  [[nodiscard]] std::size_t store_pending() const { return life_ ? life_->link.pending() : 0; }
  void cut_link() {
    if (life_) life_->link.cut();
  }

  /// A connection to it. REQUIRES: accepts().
  Lanes connect(std::uint64_t worker, Asked asked, bool admin = false);

 private:
  /// All that dies with the process, in the order of its making.
  struct Life {
    Life(DaemonHost& host, std::uint64_t number);
    const std::uint64_t number;
    std::shared_ptr<Process> process;
    Link link;
    SimListener workers;
    SimListener admins;
    Environment environment;
    std::unique_ptr<Daemon> daemon;
    bool draining = false;
  };

  const base::MacKey& resume_key() const override { return key_; }
  std::map<std::uint32_t, service::PartitionMemory> load() const override { return memory_; }
  bool save(const std::map<std::uint32_t, service::PartitionMemory>& memory) override {
    memory_ = memory;
    return true;
  }
  void record(const core::AuditEvent&) override {}
  void write(base::LogLevel, std::string_view, std::initializer_list<base::LogField>) override {}
  void start_after(Nanoseconds down);
  void end_life();

  EventQueue& queue_;
  const Host& host_;
  Backend& backend_;
  Chance chance_;
  const Plan& plan_;
  DaemonSettings settings_;
  std::vector<Observer*>& observers_;
  std::uint64_t& last_number_;                   // of lives and connections in this world
  std::function<void(std::string)> unreadable_;  // told of a frame that no client understands
  base::MacKey key_{};
  std::map<std::uint32_t, service::PartitionMemory> memory_;
  std::unique_ptr<Life> life_;
};

}  // namespace starlease::sim

// A worker process that uses leases as PROTOCOL.md tells it to, in its own random way: it trusts
// what it is told about validity, and nothing longer.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto-ipc/frame.hpp"
#include "proto-ipc/reply_decoder.hpp"
#include "tests/sim/observer.hpp"
#include "tests/sim/pipe.hpp"
#include "tests/sim/scenario.hpp"

namespace starlease::sim {

class Worker;

/// The socket as a worker finds it: something listens there, or not.
class Door {
 public:
  virtual ~Door() = default;
  /// Nothing where no daemon accepts.
  virtual std::optional<Lanes> connect(Worker& worker) = 0;
};

class Worker {
 public:
  Worker(std::uint64_t id, EventQueue& queue, const Host& host, Door& door, Chance chance,
         const Habits& habits, std::vector<Observer*>& observers);

  void start();
  /// It begins nothing new, gives back what it holds and goes away.
  void finish();
  /// It only wants these leases, one after the other, each with a wait.
  void probe(std::vector<std::string> targets, Milliseconds wait);
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] bool probed_all() const { return probing_ && wanted_.empty() && !attempt_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  void die();
  [[nodiscard]] Process& process() { return *process_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// What was asked under this id on the present connection; null if nothing was.
  [[nodiscard]] const core::Call* asked(const ipc::RequestId& id) const;
  [[nodiscard]] std::uint64_t grants() const { return grants_; }
  [[nodiscard]] std::uint64_t losses() const { return losses_; }

 private:
  struct Held {
    Belief belief;
    core::Envelope envelope;
    bool keep = false;
    bool manual = false;
  };
  struct Attempt {
    core::AcquireCall call;
    bool asked = false;
  };

  void be_born();
  void connect();
  void think();
  void act();
  void act_on_leases();
  void act_finish();
  void act_probe();
  void attempt();
  core::AcquireCall new_acquire();
  void ask(core::Call call);
  void give_back(std::size_t index);
  void renew(const Held& held);
  /// A fenced write under an envelope, which may be one of a lease that has ended.
  void commit(const core::Envelope& envelope);
  void close(bool by_us);
  void forget(std::size_t index);
  void forget_expired();

  void on_bytes(const std::string& bytes);
  void on_message(const ipc::Message& message);
  void on_reply(const core::Call& asked, const core::Outcome<core::Answer>& outcome);
  void on_grant(const core::Call& asked, const core::GrantAnswer& grant);
  void know_revision(const core::Call& asked, std::int64_t revision);
  void on_refusal(const core::Call& asked, const core::Failure& failure);
  void on_event(const core::Event& event);
  Held* find(const core::LeaseId& id);

  const std::uint64_t id_;
  EventQueue& queue_;
  const Host& host_;
  Door& door_;
  Chance chance_;
  const Habits& habits_;
  std::vector<Observer*>& observers_;
  std::shared_ptr<Process> process_;
  base::Timer timer_;
  std::optional<Lanes> lanes_;
  ipc::FrameDecoder frames_{262'144};
  ipc::ReplyDecoder decoder_;
  std::map<std::int64_t, core::Call> asked_;
  std::int64_t last_id_ = 0;
  std::uint64_t last_request_ = 0;
  core::ServiceInstanceId instance_;
  std::string resume_;
  bool greeted_ = false;
  bool finishing_ = false;
  bool probing_ = false;
  bool gone_ = false;
  std::optional<Attempt> attempt_;
  std::vector<Held> held_;
  /// Of leases that it does not hold any more: work that goes on all the same.
  std::deque<core::Envelope> past_;
  std::optional<core::CommitCall> last_commit_;
  /// By lock key and document: what stands there, as last heard.
  std::map<std::string, std::int64_t> revisions_;
  std::vector<std::string> wanted_;
  Milliseconds probe_wait_{};
  std::string complaint_;
  std::uint64_t grants_ = 0;
  std::uint64_t losses_ = 0;
};

}  // namespace starlease::sim

// A daemon that does what a test says, step by step: one script for each connection, in order, on a
// real Unix socket and in a thread of its own. It speaks the wire through the daemon's own codec.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "lib/client/boot_clock.hpp"
#include "lib/client/unique_fd.hpp"
#include "proto-ipc/request_decoder.hpp"

namespace starlease::testing {

using core::Milliseconds;

/// What a script does not get is a mistake of the test or of the client; it ends the script.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One connection, seen from the daemon's side. Every wait is bounded by patience.
class Peer {
 public:
  static constexpr Milliseconds patience{10'000};
  explicit Peer(client::UniqueFd socket) : socket_(std::move(socket)) {}

  /// The next request, whatever it is.
  ipc::Request next();
  /// The next request, which must be a C. Its id is what answer() answers.
  template <class C>
  C expect() {
    ipc::Request request = next();
    id_ = request.id;
    if (const C* call = std::get_if<C>(&request.call)) return *call;
    throw ScriptError("another operation came than " + std::string(typeid(C).name()));
  }
  /// Answers the request that was expected last.
  void answer(core::Outcome<core::Answer> outcome) { answer(id_, std::move(outcome)); }
  void answer(const ipc::RequestId& id, core::Outcome<core::Answer> outcome);
  void refuse(core::FailureCode code, std::optional<Milliseconds> retry_after = {});
  [[nodiscard]] const ipc::RequestId& id() const { return id_; }
  void tell(const core::Event& event);
  /// A payload as it is.
  void raw(const std::string& payload);
  /// Bytes as they are.
  void bytes(const std::string& bytes);

  /// Greets: the client gets this instance, or the one that it presents.
  core::HelloCall greet(const std::string& instance = "instance_1");
  /// Greets, expects an acquisition and grants it.
  core::AcquireCall grant_first(Milliseconds valid_for, std::int64_t token = 1);

  /// Waits until the client has closed its end; what it still sends is dropped.
  void await_close();
  /// Closes this end, also before the script is over.
  void close() { socket_.reset(); }

 private:
  void read_more();
  client::UniqueFd socket_;
  ipc::FrameDecoder frames_{ipc::default_max_frame_bytes};
  ipc::RequestDecoder requests_;
  std::vector<ipc::Request> queue_;
  ipc::RequestId id_;
};

/// An answer that grants what `call` asks for `valid_for` from now.
core::GrantAnswer granted(const core::AcquireCall& call, Milliseconds valid_for,
                          std::int64_t token = 1);
/// A renewal of a lease made by granted().
core::GrantAnswer renewed(const core::RenewCall& call, Milliseconds valid_for);
core::ReleasedAnswer released(const core::ReleaseCall& call);
core::LeaseLost lost(const core::GrantAnswer& grant, core::LossReason reason);
core::LeaseRenewedNotice notice(const core::GrantAnswer& grant, Milliseconds valid_for);

class ScriptedDaemon {
 public:
  using Script = std::function<void(Peer&)>;

  /// Serves one connection for each script, in order, and then no more.
  explicit ScriptedDaemon(std::vector<Script> scripts);
  /// Waits for the scripts to end; what went wrong in them fails the test.
  ~ScriptedDaemon();
  ScriptedDaemon(const ScriptedDaemon&) = delete;
  ScriptedDaemon& operator=(const ScriptedDaemon&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Waits for the scripts to end; what went wrong in them, or nothing. The client must be gone, or
  /// the scripts must end by themselves.
  std::string finish();

 private:
  void serve(const std::vector<Script>& scripts);
  std::string folder_;
  std::string path_;
  client::UniqueFd listener_;
  std::string trouble_;
  std::thread thread_;
};

}  // namespace starlease::testing

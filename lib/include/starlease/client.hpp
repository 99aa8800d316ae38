// The client of the starlease sidecar. One object, one session, one thread: it starts no thread of
// its own, and everything happens inside its calls. Needs C++20; throws nothing of its own.
//
// Two ways of use, which mix:
//   blocking      acquire(), renew(), release(), … return when the answer is there or the timeout
//   has
//                 passed. Call process() or wait() now and then, so that losses are noticed.
//   event loop    fd() is one descriptor for the whole life of the client. Watch it for reading;
//   when
//                 it is readable call process(). That covers answers, writes that are still queued,
//                 reconnects and deadlines. start_acquire() and its like take a callback.
//
// What it does by itself: reconnects and resumes the session, renews each lease that is still valid
// after a reconnect, repeats a request whose outcome is unknown under the same request id until its
// deadline, releases a lease whose answer came too late to be used.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <starlease/document.hpp>
#include <starlease/error.hpp>
#include <starlease/lease.hpp>
#include <starlease/listing.hpp>

namespace starlease {

namespace client {
class Engine;
}

struct ClientOptions {
  /// Path of the daemon's socket; empty: STARLEASE_SOCKET, or else /run/starlease/starleased.sock.
  std::string socket_path;
  /// What the daemon's log calls this program: "name/version".
  std::string name = "libstarlease";
  /// Bearer credential, where the principal demands one.
  std::string credential;
  /// Both from an earlier session(): takes that session over.
  std::string service_instance_id;
  std::string resume;
  /// For the connection and the greeting together.
  std::chrono::milliseconds connect_timeout{5000};
  /// False: a closed connection loses every lease and fails every call at once.
  bool reconnect = true;
  /// Asks for backend_state events.
  bool watch_backend = false;
};

enum class BackendState : std::uint8_t { ready, recovering, unavailable };
[[nodiscard]] std::string_view name(BackendState state) noexcept;

/// What the daemon said at the greeting.
struct SessionInfo {
  std::string server;
  std::string principal_id;
  std::string client_id;
  std::string credential_id;
  /// With `resume`: what a later session presents to take this one over. Keep `resume` secret.
  std::string service_instance_id;
  std::string resume;
  std::int64_t max_frame_bytes = 0;
  std::chrono::milliseconds minimum_ttl{}, maximum_ttl{}, default_ttl{}, maximum_lifetime{},
      maximum_wait{};
  std::int64_t max_leases = 0;
  BackendState backend{};
};

struct AcquireOptions {
  Identity identity;
  /// Absent: the daemon's default.
  std::optional<std::chrono::milliseconds> ttl;
  std::optional<std::chrono::milliseconds> maximum_lifetime;
  /// How long to wait for a lease that is held by another; 0: not at all.
  std::chrono::milliseconds wait{0};
  /// The daemon stops renewing when this client has sent nothing for so long; 0: off.
  std::chrono::milliseconds heartbeat{0};
  /// For the whole call; absent: 5 s and `wait`.
  std::optional<std::chrono::milliseconds> timeout;
  /// Names the attempt: a repetition with the same id gets the same lease. Empty: a new one.
  std::string request_id;
  std::string execution_id;
  std::string job_id;
  std::string trace_id;
  /// A JSON object, at most 4096 bytes.
  std::string metadata_json = "{}";
  /// False: the holder calls renew() itself.
  bool auto_renew = true;
  /// True: left to expire when the session ends, unless a later one resumes it.
  bool keep_on_disconnect = false;
};

/// How a mutating call is to be carried out.
struct CallOptions {
  std::chrono::milliseconds timeout{5000};
  /// Empty: a new one.
  std::string request_id;
};

struct Released {
  std::string lease_id;
  std::int64_t fencing_token = 0;
  BackendTime released_at;
  bool replayed = false;
};

enum class Operation : std::uint8_t { acquire, renew, release, commit, force_release, revoke };
[[nodiscard]] std::string_view name(Operation operation) noexcept;

/// A lease that an administrator has ended.
struct Invalidated {
  std::string lease_id;
  std::int64_t fencing_token = 0;
  BackendTime ended_at;
  bool replayed = false;
};

/// What became of an attempt.
struct Resolution {
  /// False: no attempt under that request id has committed.
  bool committed = false;
  /// Where committed, the original answer.
  std::variant<std::monostate, Grant, Released, Commit, Invalidated, Error> result;
  std::optional<LeaseState> current_state;
};

struct Pong {
  BackendState backend{};
  /// The daemon's CLOCK_BOOTTIME.
  std::int64_t boottime_ns = 0;
};

enum class EventKind : std::uint8_t {
  lease_lost,
  lease_expiring,
  lease_renewed,
  backend_state,
  draining,
  disconnected,
  reconnected,
};
[[nodiscard]] std::string_view name(EventKind kind) noexcept;

/// Something that happened unasked. Which members mean something depends on `kind`.
struct Event {
  EventKind kind{};
  /// lease_lost, lease_expiring, lease_renewed.
  std::string lease_id;
  std::int64_t fencing_token = 0;
  /// lease_lost.
  LossReason reason{};
  std::optional<LeaseState> state;
  /// lease_expiring: what is left of the maximum lifetime.
  std::chrono::milliseconds remaining{};
  /// lease_renewed.
  BackendTime expires_at;
  /// backend_state.
  BackendState backend{};
  /// draining: true if the daemon comes back and sessions can be resumed.
  bool restart = false;
};

class Client {
 public:
  using OnEvent = std::function<void(const Event&)>;
  template <class T>
  using Callback = std::function<void(Result<T>)>;

  /// Connects and greets. Errors: no_daemon (nothing listens, no permission, path of more than 107
  /// bytes), invalid_credential, invalid_lease_request (another protocol version).
  static Result<Client> connect(const ClientOptions& options = {});

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Closes the session: leases without keep_on_disconnect are released by the daemon. Calls that
  /// are still outstanding end without their callback.
  ~Client();

  /// As of the last greeting.
  [[nodiscard]] const SessionInfo& session() const noexcept;
  /// The path in use.
  [[nodiscard]] const std::string& socket_path() const noexcept;
  [[nodiscard]] bool connected() const noexcept;
  /// Receives everything unasked, lease losses included; what came before the first callback was
  /// set (the losses of a resumed session, say) comes at the next process(). Called as
  /// Lease::OnLost is.
  void on_event(OnEvent callback);

  // --- blocking ---------------------------------------------------------------------------------

  /// Acquires. Besides the daemon's codes: lease_lost where the request id's lease has ended since
  /// or its answer came after its validity; local_deadline and connection_lost as in error.hpp.
  Result<Lease> acquire(const AcquireOptions& options);
  /// Extends `lease` by its TTL or by `ttl`. An answer after the deadline does not extend it.
  Result<void> renew(Lease& lease, std::optional<std::chrono::milliseconds> ttl = {},
                     const CallOptions& call = {});
  /// Releases and waits for the answer. The lease is not valid any more whatever the answer is.
  Result<Released> release(Lease lease, const CallOptions& call = {});
  /// The same by id and token, for leases of a resumed session.
  Result<Grant> renew_by_id(const std::string& lease_id, std::int64_t fencing_token,
                            std::optional<std::chrono::milliseconds> ttl = {},
                            const CallOptions& call = {});
  Result<Released> release_by_id(const std::string& lease_id, std::int64_t fencing_token,
                                 const CallOptions& call = {});
  /// A fenced write under `lease`: done if and only if the lease is the active one in the store and
  /// no higher token has written. Without `write` nothing is written, but no lower token can write
  /// any more: what the work does next, it may do. Besides the daemon's codes as acquire().
  Result<Commit> commit(const Lease& lease, const std::optional<DocumentWrite>& write,
                        const CallOptions& call = {});
  /// The same by the envelope, for work that was sent elsewhere on behalf of the same principal.
  Result<Commit> commit(const std::string& envelope_json, const std::optional<DocumentWrite>& write,
                        const CallOptions& call = {});
  /// lease_not_found if there is none.
  Result<Document> document(const Identity& identity, const std::string& name,
                            std::chrono::milliseconds timeout = std::chrono::seconds(5));
  Result<Inspection> inspect(const Identity& identity,
                             std::chrono::milliseconds timeout = std::chrono::seconds(5));
  Result<Inspection> inspect_lease(const std::string& lease_id,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(5));
  /// What became of the attempt `request_id`.
  Result<Resolution> resolve(const std::string& request_id, Operation operation,
                             const Identity& identity,
                             std::chrono::milliseconds timeout = std::chrono::seconds(5));
  /// A page of the active leases that are meant and within the caller's scope, in a stable order: a
  /// lease that is active during a whole walk is in exactly one page.
  Result<LeasePage> list(const ListFilter& filter = {}, const PageOptions& page = {});
  /// A page of how the leases on an identity ended.
  Result<HistoryPage> history(const Identity& identity, const PageOptions& page = {});
  Result<Pong> ping(std::chrono::milliseconds timeout = std::chrono::seconds(5));
  /// Ends the session in good order: the daemon releases what is to be released and answers. The
  /// client cannot be used afterwards.
  Result<void> goodbye(std::chrono::milliseconds timeout = std::chrono::seconds(5));

  // --- event loop -------------------------------------------------------------------------------

  /// Readable when process() has something to do. The same descriptor for the client's whole life;
  /// the caller never reads, writes or closes it.
  [[nodiscard]] int fd() const noexcept;
  /// Does what can be done without blocking, and calls what is due. Errors: only those after which
  /// the client is of no more use (the daemon refuses the credential, say); then every lease is
  /// lost.
  Result<void> process();
  /// Waits up to `timeout` for something to do, then does it.
  Result<void> wait(std::chrono::milliseconds timeout);

  /// As the blocking forms; the callback is called from process(), exactly once unless the client
  /// is destroyed before.
  void start_acquire(const AcquireOptions& options, Callback<Lease> done);
  void start_renew(Lease& lease, std::optional<std::chrono::milliseconds> ttl,
                   const CallOptions& call, Callback<Grant> done);
  void start_release(Lease lease, const CallOptions& call, Callback<Released> done);
  void start_ping(std::chrono::milliseconds timeout, Callback<Pong> done);

 private:
  explicit Client(std::unique_ptr<client::Engine> engine) noexcept;
  std::unique_ptr<client::Engine> engine_;
};

}  // namespace starlease

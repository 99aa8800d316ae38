// LeaseStore on a Valkey server; see the header.
#include "daemon/valkey/valkey_store.hpp"

#include <utility>

#include "daemon/valkey/encode.hpp"
#include "daemon/valkey/reply.hpp"
#include "daemon/valkey/server_errors.hpp"
#include "lib/base/assert.hpp"

namespace starlease::valkey {
namespace {

using base::LogLevel;
using store::Status;

/// A server that may not be used is looked at again this often, on the same connection.
constexpr Milliseconds recheck_after{1000};

StoreConfig checked(StoreConfig config) {
  SL_ASSERT(check_store_config(config).has_value());
  return config;
}

}  // namespace

ValkeyStore::ValkeyStore(uv::Loop& loop, const base::Clock& clock, base::Timers& timers,
                         base::Random& random, base::Log& log, StoreConfig config)
    : clock_(clock),
      timers_(timers),
      log_(log),
      config_(checked(std::move(config))),
      keys_(config_.name_space, config_.partitions),
      deadlines_(config_.partitions),
      throttled_(log, clock),
      link_({loop, clock, timers, random, log}, config_.endpoint, "starleased", *this),
      notices_({loop, clock, timers, random, log}, config_.endpoint, keys_),
      readiness_(link_, clock, log, config_) {}

ValkeyStore::~ValkeyStore() = default;

void ValkeyStore::start(store::StoreListener& listener) {
  SL_ASSERT(listener_ == nullptr);
  listener_ = &listener;
  if (config_.durability == Durability::none) {
    log_.warning("durability is none: leases and fencing tokens may be lost with the server");
  }
  link_.start();
  notices_.start(listener);
}

// --- up and down
// ----------------------------------------------------------------------------------------

void ValkeyStore::on_link_up(const redisReply&) { check_server(); }

void ValkeyStore::check_server() {
  recheck_.reset();
  readiness_.begin([this](base::Result<void, Fault> verdict) { on_verdict(std::move(verdict)); });
}

void ValkeyStore::on_verdict(base::Result<void, Fault> verdict) {
  if (!verdict) {
    trouble_ = std::move(verdict.error());
    throttled_.write(LogLevel::error, "Valkey is reached, but must not be used", trouble_.what,
                     trouble_.remedy);
    recheck_ = timers_.at(clock_.boot_now() + recheck_after, [this] { check_server(); });
    return;
  }
  trouble_ = {};
  serving_ = true;
  log_.info("Valkey is in use");
  listener_->on_link(true);
}

void ValkeyStore::on_link_down(const Fault& why) {
  readiness_.cancel();
  recheck_.reset();
  trouble_ = why;
  deadlines_.forget();
  if (std::exchange(serving_, false)) listener_->on_link(false);
}

// --- answers
// --------------------------------------------------------------------------------------------

std::uint32_t ValkeyStore::partition_of(const core::LockDigest& digest) const {
  return core::partition_of(digest, keys_.count());
}

std::int64_t ValkeyStore::backend_deadline(std::uint32_t partition, BootTime deadline) const {
  return deadlines_.backend_ms(partition, deadline);
}

void ValkeyStore::fill_unanswered(const CallAnswer& answer, store::Head& head) const {
  switch (answer.end) {
    case CallEnd::not_sent:
      head.status = Status::unavailable;
      if (!link_.up()) head.retry_after = link_.retry_after();
      return;
    case CallEnd::expired_unsent:
      head.status = Status::deadline_exceeded;
      return;
    case CallEnd::expired_sent:
    case CallEnd::broken:
      head.status = Status::unknown;
      return;
    case CallEnd::answered:
      break;
  }
  SL_UNREACHABLE();
}

void ValkeyStore::fill_error(std::string_view error, Kind kind, store::Head& head) {
  const ErrorRule& rule = classify(error);
  const bool done_perhaps = rule.call == CallEffect::possible && kind == Kind::mutates;
  head.status = done_perhaps ? Status::unknown : Status::unavailable;
  head.retry_after = rule.retry_after;
  throttled_.write(LogLevel::warning, "Valkey refused a call", printable(error), rule.remedy);
  if (rule.link == LinkEffect::reconnect) {
    link_.retire({"the server answered: " + printable(error), std::string(rule.remedy)});
  }
}

template <class T, class Decode>
T ValkeyStore::result_of(const CallAnswer& answer, std::uint32_t partition, Kind kind,
                         Decode& decode) {
  T result{};
  if (answer.end != CallEnd::answered) {
    fill_unanswered(answer, result.head);
  } else if (const auto error = error_text(*answer.reply)) {
    fill_error(*error, kind, result.head);
  } else if (auto decoded = decode(*answer.reply)) {
    result = std::move(decoded->result);
    if (core::unix_ms(result.head.now) > 0) {
      deadlines_.observe(partition, result.head.now, answer.received_at);
    }
    if (!decoded->trouble.empty()) {
      throttled_.write(LogLevel::error, "the function library reports", decoded->trouble, "");
    }
  } else {
    result.head.status = kind == Kind::mutates ? Status::unknown : Status::unavailable;
    throttled_.write(LogLevel::error, "an answer of Valkey was not understood",
                     decoded.error().what, decoded.error().remedy);
  }
  result.head.sent_at = answer.sent_at;
  return result;
}

template <class T, class Decode>
void ValkeyStore::submit(const std::string& command, std::uint32_t partition, BootTime deadline,
                         Kind kind, Done<T> done, Decode decode) {
  SL_ASSERT(partition < keys_.count());
  Answered answered = [this, partition, kind, done = std::move(done),
                       decode = std::move(decode)](const CallAnswer& answer) mutable {
    // Whoever hears it may destroy this store: nothing after it.
    done(result_of<T>(answer, partition, kind, decode));
  };
  if (!serving_) return link_.decline(std::move(answered));
  link_.call(command, deadline, std::move(answered));
}

// --- operations
// -----------------------------------------------------------------------------------------

void ValkeyStore::acquire(store::AcquireCommand command, BootTime deadline,
                          Done<store::AcquireResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_acquire(keys_.gate(partition), command, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done), decode_acquire);
}

void ValkeyStore::renew_timed(std::vector<store::TimedRenewal> renewals, BootTime deadline,
                              Done<store::TimedRenewalsResult> done) {
  SL_ASSERT(!renewals.empty() && renewals.size() <= core::limits::renewals_per_call);
  const std::uint32_t partition = partition_of(renewals.front().holder.digest);
  submit(encode_renew_timed(keys_.gate(partition), renewals, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done),
         [asked = renewals.size()](const redisReply& reply) {
           return decode_renew_timed(reply, asked);
         });
}

void ValkeyStore::renew(store::RenewCommand command, BootTime deadline,
                        Done<store::RenewResult> done) {
  const std::uint32_t partition = partition_of(command.holder.digest);
  submit(encode_renew(keys_.gate(partition), command, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done), decode_renew);
}

void ValkeyStore::release(store::ReleaseCommand command, BootTime deadline,
                          Done<store::ReleaseResult> done) {
  const std::uint32_t partition = partition_of(command.holder.digest);
  submit(encode_release(keys_.gate(partition), command, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done), decode_release);
}

void ValkeyStore::commit(store::CommitCommand command, BootTime deadline,
                         Done<store::CommitResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_commit(keys_.gate(partition), command, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done), decode_commit);
}

void ValkeyStore::invalidate(store::InvalidateCommand command, BootTime deadline,
                             Done<store::InvalidateResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_invalidate(keys_.gate(partition), command, backend_deadline(partition, deadline)),
         partition, deadline, Kind::mutates, std::move(done), decode_invalidate);
}

void ValkeyStore::document(store::DocumentCommand command, BootTime deadline,
                           Done<store::DocumentResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_document(keys_.gate(partition), command), partition, deadline, Kind::reads,
         std::move(done), [name = command.name](const redisReply& reply) {
           auto decoded = decode_document(reply);
           if (decoded) decoded->result.document.content.name = name;
           return decoded;
         });
}

void ValkeyStore::list(store::ListCommand command, BootTime deadline,
                       Done<store::ListResult> done) {
  SL_ASSERT(command.limit > 0 && command.limit <= core::limits::leases_per_list);
  submit(encode_list(keys_.gate(command.partition), command), command.partition, deadline,
         Kind::reads, std::move(done),
         [by = command.filter.by](const redisReply& reply) { return decode_list(reply, by); });
}

void ValkeyStore::history(store::HistoryCommand command, BootTime deadline,
                          Done<store::HistoryResult> done) {
  SL_ASSERT(command.limit > 0 && command.limit <= core::limits::endings_per_call);
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_history(keys_.gate(partition), command), partition, deadline, Kind::reads,
         std::move(done), decode_history);
}

void ValkeyStore::inspect(store::InspectCommand command, BootTime deadline,
                          Done<store::InspectResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_inspect(keys_.gate(partition), command), partition, deadline, Kind::reads,
         std::move(done), decode_inspect);
}

void ValkeyStore::resolve(store::ResolveCommand command, BootTime deadline,
                          Done<store::ResolveResult> done) {
  const std::uint32_t partition = partition_of(command.digest);
  submit(encode_resolve(keys_.gate(partition), command), partition, deadline, Kind::reads,
         std::move(done), [operation = command.operation](const redisReply& reply) {
           return decode_resolve(reply, operation);
         });
}

void ValkeyStore::sweep(store::SweepCommand command, BootTime deadline,
                        Done<store::SweepResult> done) {
  SL_ASSERT(command.limit > 0 && command.limit <= core::limits::leases_per_sweep);
  submit(encode_sweep(keys_.gate(command.partition), command), command.partition, deadline,
         Kind::mutates, std::move(done), decode_sweep);
}

void ValkeyStore::read_gate(std::uint32_t partition, BootTime deadline,
                            Done<store::GateResult> done) {
  submit(encode_gate_read(keys_.gate(partition)), partition, deadline, Kind::reads, std::move(done),
         [partition](const redisReply& reply) { return decode_gate_read(reply, partition); });
}

void ValkeyStore::init_gate(store::InitGateCommand command, BootTime deadline,
                            Done<store::GateResult> done) {
  const std::uint32_t partition = command.partition;
  submit(encode_gate_init(keys_.gate(partition), keys_, command), partition, deadline,
         Kind::mutates, std::move(done),
         [partition](const redisReply& reply) { return decode_gate_init(reply, partition); });
}

void ValkeyStore::recover(store::RecoverCommand command, BootTime deadline,
                          Done<store::RecoverResult> done) {
  const std::uint32_t partition = command.partition;
  const std::int64_t wall_ms = clock_.wall_now().time_since_epoch().count();
  submit(encode_recover(keys_.gate(partition), keys_, command, wall_ms), partition, deadline,
         Kind::mutates, std::move(done),
         [partition](const redisReply& reply) { return decode_recover(reply, partition); });
}

}  // namespace starlease::valkey

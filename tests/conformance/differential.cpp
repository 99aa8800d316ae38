// Random sequences of commands against the real functions and against the model, answer by answer,
// with steps of the clock, restarts, recoveries, lost and older data, corrupt records.
//
//     store-differential --shim CLOCKSTEP.SO [--commands N] [--seed N]
//
// Ends with 1 at the first difference, and shows the commands before it.
#include <charconv>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>

#include "lib/base/crypto.hpp"
#include "tests/conformance/shown.hpp"
#include "tests/sim/chance.hpp"

namespace starlease::conformance {
namespace {

constexpr int commands_per_episode = 1500;
constexpr core::Milliseconds keeps_answers{3'600'000};
constexpr std::size_t shown_before = 25;
constexpr int known_leases = 40;

/// Makes commands that meet each other: few locks, few owners, leases and request ids of before.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : chance_(seed) {}

  sim::Chance& chance() { return chance_; }
  void forget() {
    leases_.clear();
    ends_.clear();
    keys_.clear();
    data_lost_ = false;
  }
  /// Until the next recovery the clock alone stands for what was lost: it must not step back, and
  /// nobody may say that the namespace is new.
  void data_lost() { data_lost_ = true; }
  void recovered() { data_lost_ = false; }
  [[nodiscard]] bool rests_on_the_clock() const { return data_lost_; }
  /// A lease that was granted: later commands name it.
  void granted(const core::LockDigest& digest, const store::AcquireResult& result,
               const core::Owner& owner) {
    if (result.head.status != store::Status::ok) return;
    leases_.push_back({digest, result.grant.lease_id, result.grant.token, owner});
    ends_[result.grant.lease_id] = result.grant.expires_at;
    if (leases_.size() > known_leases) leases_.pop_front();
  }

  Command next() {
    const auto kind = chance_.below(100);
    if (kind < 30) return acquire();
    if (kind < 42) return timed();
    if (kind < 52) return renew();
    if (kind < 60) return release();
    if (kind < 63) return invalidate();
    if (kind < 74) return commit();
    if (kind < 76) return document();
    if (kind < 81) return inspect();
    if (kind < 86) return resolve();
    if (kind < 90) return list();
    if (kind < 92) return history();
    if (kind < 94) return ReadGate{};
    if (kind < 95) return store::SweepCommand{0, 100, {}};
    if (kind < 96 && !data_lost_) return init();
    return recover();
  }
  store::InitGateCommand init() {
    store::InitGateCommand command;
    command.audit = audit();
    return command;
  }
  Recover recover() {
    Recover recover;
    recover.command.clock_tolerance = core::Milliseconds(500);
    recover.command.grace =
        chance_.happens(0.5) ? store::RecoveryGrace::none : store::RecoveryGrace::ttl;
    recover.command.least_grace = core::Milliseconds(chance_.happens(0.3) ? 3000 : 0);
    recover.command.audit = audit();
    // Not near the tolerance: the two are asked a moment apart.
    recover.wall_difference = core::Milliseconds(chance_.happens(0.1) ? 900 : 0);
    if (chance_.happens(0.1)) recover.command.observed = "something else";
    return recover;
  }
  core::LockDigest some_lock() { return core::lock_digest(identity()); }

 private:
  struct Key {
    core::Operation operation{};
    core::LockDigest digest;
    store::Idempotency idempotency;
  };

  core::LockIdentity identity() {
    core::RawIdentity raw;
    raw.components = {"tenant", "program",    "ns",        "t" + std::to_string(chance_.below(5)),
                      "actor",  std::nullopt, std::nullopt};
    return *core::normalize(raw, {});
  }
  core::Owner owner() {
    return {core::PrincipalId("p" + std::to_string(chance_.below(2))), core::ClientId("client"),
            core::CredentialId("credential"),
            core::ServiceInstanceId("i" + std::to_string(chance_.below(3)))};
  }
  store::Audit audit() {
    store::Audit audit;
    audit.request_id = core::RequestId("request-" + std::to_string(++last_));
    return audit;
  }
  /// Often one of before, now and then with other inputs.
  store::Idempotency key(core::Operation operation, const core::LockDigest& digest) {
    if (!keys_.empty() && chance_.happens(0.15)) {
      const Key& before = keys_[static_cast<std::size_t>(chance_.below(keys_.size()))];
      if (before.operation == operation && before.digest == digest) {
        store::Idempotency again = before.idempotency;
        if (chance_.happens(0.2)) again.digest[0] ^= std::byte{1};
        return again;
      }
    }
    store::Idempotency fresh;
    fresh.scope = core::idempotency_scope(operation, digest, core::PrincipalId("p"),
                                          core::RequestId(std::to_string(++last_)));
    chance_.fill(fresh.digest);
    fresh.retention = keeps_answers;
    if (chance_.happens(0.7)) fresh.refusal_retention = keeps_answers;
    keys_.push_back({operation, digest, fresh});
    if (keys_.size() > known_leases) keys_.pop_front();
    return fresh;
  }
  core::Milliseconds ttl() { return core::Milliseconds(chance_.between(1, 2500)); }
  store::Holder holder() {
    if (leases_.empty()) return {some_lock(), core::LeaseId("lease"), {1}, owner()};
    store::Holder holder = leases_[static_cast<std::size_t>(chance_.below(leases_.size()))];
    if (chance_.happens(0.05)) holder.owner = owner();
    if (chance_.happens(0.03)) holder.token.value += 1;
    return holder;
  }

  Command acquire() {
    store::AcquireCommand command;
    command.identity = identity();
    command.digest = core::lock_digest(command.identity);
    command.owner = owner();
    command.candidate = core::LeaseId("lease-" + std::to_string(++last_));
    command.ttl = ttl();
    command.maximum_lifetime = command.ttl + core::Milliseconds(chance_.between(0, 4000));
    command.metadata = "{}";
    if (chance_.happens(0.2)) command.lock_delay = core::Milliseconds(chance_.between(1, 4000));
    if (chance_.happens(0.5)) command.work.execution = core::ExecutionId("execution");
    command.idempotency = key(core::Operation::acquire, command.digest);
    command.audit = audit();
    return command;
  }
  Command timed() {
    TimedRenewals renewals;
    std::vector<core::LockDigest> asked;
    for (auto n = chance_.below(3) + 1; n > 0; --n) {
      const store::Holder one = holder();
      if (std::ranges::find(asked, one.digest) != asked.end()) continue;
      asked.push_back(one.digest);
      renewals.push_back({one, ttl(), chance_.between(1, 1'000'000)});
    }
    return renewals;
  }
  Command renew() {
    store::RenewCommand command;
    command.holder = holder();
    command.ttl = ttl();
    command.idempotency = key(core::Operation::renew, command.holder.digest);
    command.audit = audit();
    return command;
  }
  Command release() {
    store::ReleaseCommand command;
    command.holder = holder();
    command.idempotency = key(core::Operation::release, command.holder.digest);
    command.terminal_retention = keeps_answers;
    command.audit = audit();
    return command;
  }
  Command commit() {
    const store::Holder one = holder();
    store::CommitCommand command;
    command.digest = one.digest;
    command.lease_id = one.lease_id;
    command.token = one.token;
    command.writer = one.owner;
    command.envelope_expires_at = ends_[one.lease_id];
    if (chance_.happens(0.05)) command.envelope_expires_at += core::Milliseconds(5000);
    if (chance_.happens(0.5)) command.execution = core::ExecutionId("execution");
    if (chance_.happens(0.7)) {
      core::DocumentWrite write;
      write.content.name = name();
      write.content.type = static_cast<core::DocumentType>(chance_.below(5));
      write.content.body = "{\"n\":" + std::to_string(++last_) + "}";
      write.content.sequence = chance_.between(1, 4);
      write.content.completed_execution = core::ExecutionId("e" + std::to_string(chance_.below(2)));
      write.expect_revision = chance_.between(0, 3);
      command.write = std::move(write);
    }
    command.idempotency = key(core::Operation::commit, command.digest);
    command.audit = audit();
    return command;
  }
  Command invalidate() {
    const store::Holder one = holder();
    store::InvalidateCommand command;
    command.operation =
        chance_.happens(0.5) ? core::Operation::revoke : core::Operation::force_release;
    command.digest = one.digest;
    command.lease_id = one.lease_id;
    command.token = one.token;
    command.administrator = owner();
    command.reason = "reason";
    command.statement = "{}";
    command.signature = command.key_id = "key";
    command.idempotency = key(command.operation, command.digest);
    command.audit = audit();
    return command;
  }
  Command document() { return store::DocumentCommand{some_lock(), name()}; }
  std::string name() { return "n" + std::to_string(chance_.below(4)); }
  Command inspect() {
    if (leases_.empty() || chance_.happens(0.5)) {
      return store::InspectCommand{some_lock(), std::nullopt};
    }
    const store::Holder one = holder();
    return store::InspectCommand{one.digest, one.lease_id};
  }
  Command resolve() {
    if (keys_.empty()) return ReadGate{};
    const Key& before = keys_[static_cast<std::size_t>(chance_.below(keys_.size()))];
    return store::ResolveCommand{before.digest, before.operation, before.idempotency.scope};
  }

  Command list() {
    const core::LockIdentity named = identity();
    store::ListCommand command;
    command.filter.by = static_cast<core::ListBy>(chance_.below(3));
    if (command.filter.by == core::ListBy::owner) {
      command.filter.owner = owner().principal;
    } else {
      command.filter.tenant_id = named.components[0];
      command.filter.program_id = named.components[1];
    }
    if (command.filter.by == core::ListBy::target) {
      command.filter.target_namespace = named.components[2];
      command.filter.target_id = named.components[3];
    }
    if (chance_.happens(0.3)) {
      command.after = core::list_position(command.filter.by, named, core::lock_digest(named));
    }
    command.limit = static_cast<std::size_t>(chance_.happens(0.5) ? 100 : chance_.between(1, 3));
    return command;
  }
  Command history() {
    History history;
    history.command.digest = some_lock();
    history.command.limit =
        static_cast<std::size_t>(chance_.happens(0.5) ? 50 : chance_.between(1, 3));
    history.go_on = chance_.happens(0.6);
    return history;
  }

  sim::Chance chance_;
  std::deque<store::Holder> leases_;
  std::map<core::LeaseId, core::BackendTime> ends_;
  std::deque<Key> keys_;
  std::uint64_t last_ = 0;
  bool data_lost_ = false;
};

class Differential {
 public:
  Differential(Server& server, std::uint64_t seed)
      : server_(server), valkey_(server), generator_(seed) {}

  /// False at the first difference.
  bool episode(int commands) {
    begin();
    for (int i = 0; i < commands; ++i) {
      misfortune();
      if (!step(generator_.next())) return false;
    }
    return true;
  }
  void print_counts() const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      std::printf("  %-10s %llu\n", names[i], static_cast<unsigned long long>(counts_[i]));
    }
  }

 private:
  static constexpr std::array<const char*, 19> names = {
      "acquire",    "timed renewals", "renew",    "release",   "inspect",    "resolve", "gate",
      "init",       "recover",        "sweep",    "commit",    "document",   "list",    "history",
      "invalidate", "clock steps",    "restarts", "data lost", "corruptions"};
  enum Misfortune : std::size_t { clock_step = 15, restarted, lost, corrupted };

  void begin() {
    server_.flush();
    model_ = std::make_unique<ModelSide>();
    valkey_.forget();
    generator_.forget();
    valkey_shower_ = model_shower_ = {};
    apart_.clear();
    kept_dump_ = server_.dump();
    kept_data_ = model_->backend().data();
    step(generator_.init());
  }

  bool step(const Command& command) {
    ++counts_[command.index()];
    const Result real = valkey_.perform(command);
    const Result model = model_->perform(for_model(command), valkey_.now_ms());
    const std::string told = valkey_shower_.show(real);
    const std::string expected = model_shower_.show(model);
    remember(std::string(names[command.index()]) + " at " + std::to_string(valkey_.now_ms()) +
             ": " + told);
    if (told != expected) {
      std::printf("difference:\n");
      for (const std::string& line : before_) std::printf("  %s\n", line.c_str());
      std::printf("  the model says: %s\n", expected.c_str());
      return false;
    }
    const auto* recovered = std::get_if<store::RecoverResult>(&real);
    if (recovered != nullptr && recovered->head.status == store::Status::ok) {
      generator_.recovered();
    }
    if (const auto* acquire = std::get_if<store::AcquireCommand>(&command)) {
      const auto& granted = std::get<store::AcquireResult>(real);
      generator_.granted(acquire->digest, granted, acquire->owner);
      apart_[granted.grant.lease_id] =
          std::get<store::AcquireResult>(model).grant.token.value - granted.grant.token.value;
    }
    return true;
  }

  /// The model's floors differ by what is below a millisecond, and so do its tokens.
  Command for_model(Command command) const {
    const auto translate = [this](const core::LeaseId& lease_id, core::FencingToken& token) {
      const auto found = apart_.find(lease_id);
      if (found != apart_.end()) token.value += found->second;
    };
    if (auto* timed = std::get_if<TimedRenewals>(&command)) {
      for (store::TimedRenewal& one : *timed) translate(one.holder.lease_id, one.holder.token);
    } else if (auto* renew = std::get_if<store::RenewCommand>(&command)) {
      translate(renew->holder.lease_id, renew->holder.token);
    } else if (auto* release = std::get_if<store::ReleaseCommand>(&command)) {
      translate(release->holder.lease_id, release->holder.token);
    } else if (auto* commit = std::get_if<store::CommitCommand>(&command)) {
      translate(commit->lease_id, commit->token);
    } else if (auto* invalidate = std::get_if<store::InvalidateCommand>(&command)) {
      translate(invalidate->lease_id, invalidate->token);
    }
    return command;
  }

  void misfortune() {
    sim::Chance& chance = generator_.chance();
    if (chance.happens(0.02)) {
      ++counts_[clock_step];
      // Time passes, mostly; sometimes it steps back, within the tolerance or past it.
      const std::int64_t by = chance.happens(0.85) || generator_.rests_on_the_clock()
                                  ? chance.between(1, 4000)
                                  : chance.between(-8000, -1);
      server_.set_clock(server_.clock_offset_ms() + by);
      furthest_ = std::max(furthest_, server_.clock_offset_ms());
      remember("clock by " + std::to_string(by));
    }
    if (chance.happens(0.0005)) {
      ++counts_[restarted];
      server_.restart();
      model_->backend().restart();
      remember("restart");
    }
    if (chance.happens(0.0003)) {
      ++counts_[lost];
      generator_.data_lost();
      valkey_.forget();
      model_->forget();
      // With the data gone only the clock is left to rest on, and recovery demands that it is
      // right.
      server_.set_clock(furthest_);
      if (chance.happens(0.5)) {
        server_.flush();
        server_.restart();
        model_->backend().wipe();
        remember("all data lost");
      } else {
        server_.restart_with(kept_dump_);
        model_->backend().restart_with(kept_data_);
        remember("older data");
      }
    }
    if (chance.happens(0.001)) {
      kept_dump_ = server_.dump();
      kept_data_ = model_->backend().data();
    }
    if (chance.happens(0.0003)) {
      ++counts_[corrupted];
      const core::LockDigest digest = generator_.some_lock();
      valkey_.corrupt(digest);
      model_->backend().corrupt(digest);
      remember("corrupt record");
    }
  }

  void remember(std::string line) {
    before_.push_back(std::move(line));
    if (before_.size() > shown_before) before_.pop_front();
  }

  Server& server_;
  ValkeySide valkey_;
  std::unique_ptr<ModelSide> model_;
  Generator generator_;
  Shower valkey_shower_;
  Shower model_shower_;
  std::int64_t furthest_ = 0;  // ahead that its clock has been
  Server::Dump kept_dump_;
  store::MemoryBackend::Data kept_data_;
  std::map<core::LeaseId, std::int64_t> apart_;
  std::deque<std::string> before_;
  std::array<std::uint64_t, names.size()> counts_{};
};

int run(const std::string& shim, std::int64_t commands, std::uint64_t seed) {
  std::string folder = std::filesystem::temp_directory_path() / "starlease-conformance-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr || !base::crypto_start()) return 70;
  bool equal = true;
  {
    Server server(folder, shim);
    Differential differential(server, seed);
    std::int64_t done = 0;
    while (equal && done < commands) {
      equal = differential.episode(commands_per_episode);
      done += commands_per_episode;
    }
    std::printf("%lld commands, %s\n", static_cast<long long>(done),
                equal ? "no difference" : "a difference");
    differential.print_counts();
  }
  std::filesystem::remove_all(folder);
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace starlease::conformance

int main(int argc, char** argv) {
  std::string shim;
  std::int64_t commands = 20'000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::string_view value = argv[i + 1];
    if (option == "--shim") shim = value;
    if (option == "--commands")
      std::from_chars(value.data(), value.data() + value.size(), commands);
    if (option == "--seed") std::from_chars(value.data(), value.data() + value.size(), seed);
  }
  if (shim.empty()) {
    std::fputs("usage: store-differential --shim CLOCKSTEP.SO [--commands N] [--seed N]\n", stderr);
    return 64;
  }
  return starlease::conformance::run(shim, commands, seed);
}

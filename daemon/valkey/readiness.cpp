// The questions after the greeting; see the header.
#include "daemon/valkey/readiness.hpp"

#include <fmt/core.h>

#include <utility>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/encode.hpp"
#include "daemon/valkey/function_library.hpp"
#include "daemon/valkey/reply.hpp"
#include "daemon/valkey/server_errors.hpp"

namespace starlease::valkey {
namespace {

std::string info_command() {
  Command command("INFO");
  command.arg("server").arg("memory").arg("persistence").arg("replication");
  return std::move(command).finish();
}

std::string config_command() {
  Command command("CONFIG", 256);
  command.arg("GET").arg("maxmemory-policy").arg("appendonly").arg("appendfsync");
  command.arg("no-appendfsync-on-rewrite").arg("min-replicas-to-write").arg("min-replicas-max-lag");
  return std::move(command).finish();
}

Fault refused(std::string_view what, std::string_view error) {
  return {fmt::format("the server refused {}: {}", what, printable(error)),
          std::string(classify(error).remedy)};
}

}  // namespace

void Readiness::begin(Verdict verdict) {
  ++round_;
  facts_ = {};
  loaded_ = false;
  verdict_ = std::move(verdict);
  ask(info_command(), &Readiness::on_info);
}

void Readiness::cancel() {
  ++round_;
  verdict_ = nullptr;
}

void Readiness::ask(const std::string& command, Step next) {
  const BootTime deadline = clock_.boot_now() + config_.endpoint.connect_timeout;
  link_.call(command, deadline, [this, next, round = round_](const CallAnswer& answer) {
    if (round != round_) return;
    if (answer.end == CallEnd::answered) return (this->*next)(*answer.reply);
    // A broken link is told by its owner; here only a server that is slow remains.
    if (answer.end == CallEnd::expired_sent) {
      conclude(base::failed(Fault{"the server did not answer the first questions in time", ""}));
    }
  });
}

void Readiness::conclude(base::Result<void, Fault> verdict) {
  ++round_;
  auto tell = std::exchange(verdict_, nullptr);
  if (tell) tell(std::move(verdict));
}

void Readiness::on_info(const redisReply& reply) {
  if (const auto error = error_text(reply)) return conclude(base::failed(refused("INFO", *error)));
  const auto text = text_of(reply);
  if (!text) return conclude(base::failed(Fault{"the answer to INFO is no text", ""}));
  read_info(*text, facts_);
  if (facts_.loading) {
    return conclude(base::failed(Fault{"the server is loading its data", "wait"}));
  }
  const bool ask_config =
      config_.suitability == Suitability::check && config_.durability == Durability::always;
  if (ask_config) return ask(config_command(), &Readiness::on_config);
  judge();
}

void Readiness::on_config(const redisReply& reply) {
  if (const auto error = error_text(reply)) {
    Fault fault = refused("CONFIG GET", *error);
    if (error->starts_with("NOPERM")) {
      fault.remedy = "grant the daemon's user +config|get, or set valkey.suitability = \"stated\"";
    }
    return conclude(base::failed(std::move(fault)));
  }
  if (!read_config(reply, facts_)) {
    return conclude(base::failed(Fault{"the answer to CONFIG GET is not as expected", ""}));
  }
  judge();
}

void Readiness::judge() {
  if (auto why = unfit(facts_, config_)) return conclude(base::failed(std::move(*why)));
  ask(encode_version(), &Readiness::on_version);
}

void Readiness::on_version(const redisReply& reply) {
  const auto version = decode_version(reply);
  if (!version) return conclude(base::failed(version.error()));
  if (*version && **version >= library_revision()) return conclude({});
  if (config_.load_functions && !loaded_) {
    return ask(encode_library_load(), &Readiness::on_loaded);
  }
  conclude(base::failed(
      Fault{*version ? fmt::format("the function library on the server has revision {}, and {} is "
                                   "needed",
                                   **version, library_revision())
                     : std::string("the function library is not on the server"),
            "load it: starlease admin deploy"}));
}

void Readiness::on_loaded(const redisReply& reply) {
  if (auto why = load_refused(reply)) return conclude(base::failed(std::move(*why)));
  loaded_ = true;
  log_.info("function library loaded",
            {{"library", library_name()}, {"revision", library_revision()}});
  ask(encode_version(), &Readiness::on_version);
}

}  // namespace starlease::valkey

// After the greeting: may this server be used, and has it the functions? Asks INFO, CONFIG GET and
// the library's revision, loads the library where that is allowed, and tells the verdict once.
#pragma once

#include <cstdint>
#include <functional>

#include "daemon/valkey/link.hpp"
#include "daemon/valkey/suitability.hpp"

namespace starlease::valkey {

class Readiness {
 public:
  using Verdict = std::move_only_function<void(base::Result<void, Fault>)>;

  /// All outlive this; the link may be destroyed after it as long as it is not turned any more.
  Readiness(Link& link, const base::Clock& clock, base::Log& log, const StoreConfig& config)
      : link_(link), clock_(clock), log_(log), config_(config) {}

  /// Begins on a link that is up; a verdict that is still open is dropped. `verdict` is not called
  /// if the link ends first.
  void begin(Verdict verdict);
  /// Drops the open verdict.
  void cancel();

 private:
  using Step = void (Readiness::*)(const redisReply&);
  void ask(const std::string& command, Step next);
  void conclude(base::Result<void, Fault> verdict);
  void on_info(const redisReply& reply);
  void on_config(const redisReply& reply);
  void judge();
  void on_version(const redisReply& reply);
  void on_loaded(const redisReply& reply);

  Link& link_;
  const base::Clock& clock_;
  base::Log& log_;
  const StoreConfig& config_;
  ServerFacts facts_;
  Verdict verdict_;
  bool loaded_ = false;
  /// Answers to questions of an earlier round are not heard.
  std::uint64_t round_ = 0;
};

}  // namespace starlease::valkey

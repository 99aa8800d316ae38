// Deployment of the function library; see the header.
#include "daemon/deploy_functions.hpp"

#include <fmt/format.h>

#include "daemon/uv/clock.hpp"
#include "daemon/uv/loop.hpp"
#include "daemon/uv/timers.hpp"
#include "daemon/valkey/deploy.hpp"
#include "daemon/valkey/function_library.hpp"
#include "lib/base/system_random.hpp"

namespace starlease {
namespace {

std::string sentence(const valkey::Fault& fault) {
  return fault.remedy.empty() ? fault.what : fmt::format("{}; {}", fault.what, fault.remedy);
}

std::string sentence(const valkey::Deployed& deployed, const std::string& server) {
  std::string text = fmt::format("{}: function library {}, revision {}", server,
                                 valkey::library_name(), deployed.revision);
  if (deployed.before) text += fmt::format(" (was {})", *deployed.before);
  return text;
}

}  // namespace

base::Result<std::string, std::string> deploy_functions(const valkey::StoreConfig& config,
                                                        base::Log& log) {
  const uv::SystemClock clock;
  base::SystemRandom random;
  auto loop = uv::Loop::create(clock);
  if (!loop) return base::failed(loop.error().message);
  auto timers = uv::Timers::create(**loop);
  if (!timers) return base::failed(timers.error().message);
  const std::string server = valkey::describe(config.endpoint);
  base::Result<std::string, std::string> outcome =
      base::failed(std::string("the loop ended early"));
  valkey::Deploy deploy({**loop, clock, **timers, random, log}, config.endpoint);
  deploy.start([&](base::Result<valkey::Deployed, valkey::Fault> result) {
    if (result) {
      outcome = sentence(*result, server);
    } else {
      outcome = base::failed(fmt::format("{}: {}", server, sentence(result.error())));
    }
    (*loop)->stop();
  });
  (*loop)->run();
  return outcome;
}

}  // namespace starlease

// The simulator's command line: one seed with its trace, or many seeds on all processors.
//
// Exit status: 0 all good, 1 a crash (an assertion, a sanitizer's finding), 2 liveness, 3 safety,
// 64 usage.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "lib/base/crypto.hpp"
#include "tests/sim/world.hpp"

namespace starlease::sim {
namespace {

constexpr int usage_status = 64;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  std::vector<Scenario> scenarios;
  bool trace = false;
  /// Run each seed twice and compare.
  bool twice = false;
  bool canary = false;
  std::uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool parse_seeds(std::string_view text, Arguments& arguments) {
  const std::size_t dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) return false;
  arguments.first = *first;
  arguments.last = *last;
  return true;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--trace") {
      arguments.trace = true;
    } else if (option == "--twice") {
      arguments.twice = true;
    } else if (option == "--canary") {
      arguments.canary = true;
    } else if ((option == "--seed" || option == "--seeds") && parse_seeds(value, arguments)) {
      ++i;
    } else if (option == "--scenario" && scenario_named(value)) {
      arguments.scenarios.push_back(*scenario_named(value));
      ++i;
    } else if (option == "--jobs" && number(value).value_or(0) > 0) {
      arguments.jobs = *number(value);
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (arguments.scenarios.empty()) {
    for (std::size_t i = 0; i < scenario_names.size(); ++i) {
      arguments.scenarios.push_back(static_cast<Scenario>(i));
    }
  }
  return arguments;
}

/// What a worker process was doing when it died.
volatile std::sig_atomic_t seed_now = 0;
volatile std::sig_atomic_t scenario_now = 0;

void on_crash(int signal) {
  char text[160];
  const auto scenario = static_cast<std::size_t>(scenario_now);
  const int size =
      std::snprintf(text, sizeof text, "crash by signal %d: --seed %ld --scenario %s\n", signal,
                    static_cast<long>(seed_now), std::string(scenario_names[scenario]).c_str());
  if (size > 0) (void)!::write(STDOUT_FILENO, text, static_cast<std::size_t>(size));
  ::_exit(static_cast<int>(Kind::crash));
}

void tell(const Violation& violation, std::uint64_t seed, Scenario scenario) {
  const char* kind = violation.kind == Kind::liveness ? "liveness" : "safety";
  std::printf("%s, %s: %s\n  --seed %llu --scenario %s\n", kind, violation.checker.c_str(),
              violation.what.c_str(), static_cast<unsigned long long>(seed),
              std::string(scenario_names[static_cast<std::size_t>(scenario)]).c_str());
  std::fflush(stdout);
}

/// One world, or the same twice; what was violated.
Kind run_one(std::uint64_t seed, Scenario scenario, const Arguments& arguments, Summary& sum) {
  seed_now = static_cast<std::sig_atomic_t>(seed);
  scenario_now = static_cast<std::sig_atomic_t>(scenario);
  World world(seed, scenario, arguments.trace, arguments.canary);
  const auto violation = world.run();
  sum.add(world.summary());
  if (violation) {
    tell(*violation, seed, scenario);
    return violation->kind;
  }
  if (arguments.twice) {
    World again(seed, scenario, false, arguments.canary);
    (void)again.run();
    if (again.summary().trace != world.summary().trace) {
      tell({Kind::safety, "replay", "the same seed gave another trace"}, seed, scenario);
      return Kind::safety;
    }
  }
  return Kind::none;
}

/// A process's share of the seeds: every `jobs`-th. Ends at its first violation.
Kind run_share(const Arguments& arguments, std::uint64_t share, Summary& sum) {
  for (std::uint64_t seed = arguments.first + share; seed <= arguments.last;
       seed += arguments.jobs) {
    const Scenario scenario = arguments.scenarios[seed % arguments.scenarios.size()];
    const Kind kind = run_one(seed, scenario, arguments, sum);
    if (kind != Kind::none) return kind;
  }
  return Kind::none;
}

/// Forks the shares; each sends its summary home through a pipe.
Kind run_all(const Arguments& arguments, Summary& sum) {
  struct Child {
    pid_t pid;
    int result;
  };
  std::vector<Child> children;
  for (std::uint64_t share = 0; share < arguments.jobs; ++share) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const pid_t pid = ::fork();
    if (pid == 0) {
      Summary own;
      const Kind kind = run_share(arguments, share, own);
      (void)!::write(ends[1], &own, sizeof own);
      std::fflush(stdout);
      ::_exit(static_cast<int>(kind));
    }
    ::close(ends[1]);
    children.push_back({pid, ends[0]});
  }
  int worst = 0;
  for (const Child& child : children) {
    Summary own;
    if (::read(child.result, &own, sizeof own) == sizeof own) sum.add(own);
    ::close(child.result);
    int status = 0;
    ::waitpid(child.pid, &status, 0);
    const int kind = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Kind::crash);
    worst = std::max(worst, kind);
  }
  return static_cast<Kind>(worst);
}

void print(const Summary& sum, double wall_seconds) {
  const double hours = static_cast<double>(sum.simulated.count()) / 3.6e12;
  std::printf(
      "%llu worlds, %.2f simulated hours in %.1f s (%.1f h a minute): %llu events, "
      "%llu backend commands, %llu grants, %llu losses\n",
      static_cast<unsigned long long>(sum.worlds), hours, wall_seconds,
      wall_seconds > 0 ? hours * 60 / wall_seconds : 0.0,
      static_cast<unsigned long long>(sum.events), static_cast<unsigned long long>(sum.commands),
      static_cast<unsigned long long>(sum.grants), static_cast<unsigned long long>(sum.losses));
  for (std::size_t i = 0; i < fault_names.size(); ++i) {
    std::printf("  %-28s %llu\n", std::string(fault_names[i]).c_str(),
                static_cast<unsigned long long>(sum.faults[i]));
  }
}

int main_of(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(
        "usage: sim --seed N | --seeds A..B [--scenario NAME]... [--trace] [--twice] "
        "[--canary] [--jobs N]\nscenarios:",
        stderr);
    for (const auto name : scenario_names) std::fprintf(stderr, " %s", std::string(name).c_str());
    std::fputs("; without one, each seed takes the next\n", stderr);
    return usage_status;
  }
  if (!base::crypto_start()) return static_cast<int>(Kind::crash);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, on_crash);
  }
  Summary sum;
  const auto began = std::chrono::steady_clock::now();
  const bool alone = arguments->first == arguments->last;
  const Kind kind = alone ? run_share(*arguments, 0, sum) : run_all(*arguments, sum);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  print(sum, took.count());
  return static_cast<int>(kind);
}

}  // namespace
}  // namespace starlease::sim

int main(int argc, char** argv) { return starlease::sim::main_of(argc, argv); }

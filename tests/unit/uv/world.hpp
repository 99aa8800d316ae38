// What a test of the loop needs around it: a real loop with its clock and timers, a log that can be
// searched, and waiting for a condition by turning the loop.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/uv/clock.hpp"
#include "daemon/uv/loop.hpp"
#include "daemon/uv/timers.hpp"
#include "lib/base/log.hpp"

namespace starlease::uv::test {

using base::BootTime;
using base::Milliseconds;

/// Lines as "event key=value key=value".
class LineLog final : public base::Log {
 public:
  void write(base::LogLevel level, std::string_view event,
             std::initializer_list<base::LogField> fields) override {
    std::string line(event);
    for (const base::LogField& field : fields) {
      line.append(" ").append(field.key).append("=");
      if (const auto* text = std::get_if<std::string_view>(&field.value)) line.append(*text);
      if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
        line.append(std::to_string(*number));
      }
    }
    if (level >= base::LogLevel::warning) ++warnings;
    lines.push_back(std::move(line));
  }
  [[nodiscard]] bool has(std::string_view text) const { return count(text) > 0; }
  [[nodiscard]] std::size_t count(std::string_view text) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        lines, [text](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  std::vector<std::string> lines;
  std::size_t warnings = 0;
};

struct World {
  World() : loop(*Loop::create(clock)), timers(*Timers::create(*loop)) {}

  /// Turns the loop until `done`; false if that takes longer than `limit`.
  bool until(const std::function<bool()>& done, Milliseconds limit = Milliseconds(5000)) {
    bool late = false;
    const auto alarm = timers->at(in(limit), [&late] { late = true; });
    while (!done() && !late) loop->run_once();
    return done();
  }
  /// Turns the loop for a while: for what must not happen.
  void pass(Milliseconds time) {
    static_cast<void>(until([] { return false; }, time));
  }
  [[nodiscard]] BootTime in(Milliseconds time) const { return clock.boot_now() + time; }

  SystemClock clock;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Timers> timers;
  LineLog log;
};

/// Descriptors that this process has open.
inline std::size_t open_files() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries))) - 1;
}

}  // namespace starlease::uv::test

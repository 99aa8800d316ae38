// What a test of the adapter needs around it: a real loop with its clock and timers, a log that can
// be searched, and waiting for a condition by turning the loop.
#pragma once

#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/uv/clock.hpp"
#include "daemon/uv/loop.hpp"
#include "daemon/uv/timers.hpp"
#include "daemon/valkey/link.hpp"
#include "tests/support/manual.hpp"

namespace starlease::valkey::test {

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
  [[nodiscard]] std::string all() const {
    std::string text;
    for (const std::string& line : lines) text.append(line).append("\n");
    return text;
  }
  std::vector<std::string> lines;
  std::size_t warnings = 0;
};

struct World {
  World() : loop(*uv::Loop::create(clock)), timers(*uv::Timers::create(*loop)) {
    std::signal(SIGPIPE, SIG_IGN);  // as the daemon does: hiredis and OpenSSL just write
  }

  /// Turns the loop until `done`; false if that takes longer than `limit`.
  bool until(const std::function<bool()>& done, Milliseconds limit = Milliseconds(5000)) {
    bool late = false;
    const auto alarm = timers->at(clock.boot_now() + limit, [&late] { late = true; });
    while (!done() && !late) loop->run_once();
    return done();
  }
  /// Turns the loop for a while: for what must not happen.
  void pass(Milliseconds time) {
    static_cast<void>(until([] { return false; }, time));
  }
  [[nodiscard]] LinkSeams seams() { return {*loop, clock, *timers, random, log}; }
  [[nodiscard]] BootTime in(Milliseconds time) const { return clock.boot_now() + time; }

  uv::SystemClock clock;
  std::unique_ptr<uv::Loop> loop;
  std::unique_ptr<uv::Timers> timers;
  testing::SeededRandom random{1};
  LineLog log;
};

/// A link's owner that counts.
struct CountingOwner final : LinkOwner {
  void on_link_up(const redisReply&) override {
    ++ups;
    if (when_up) when_up();
  }
  void on_link_down(const Fault& why) override {
    ++downs;
    last = why;
    if (when_down) when_down();
  }
  void on_attempt_failed(const Fault& why) override {
    ++failures;
    last = why;
    if (when_failed) when_failed();
  }
  void on_push(const redisReply&) override {
    ++pushes;
    if (when_pushed) when_pushed();
  }
  int ups = 0, downs = 0, failures = 0, pushes = 0;
  Fault last;
  std::function<void()> when_up, when_down, when_failed, when_pushed;
};

}  // namespace starlease::valkey::test

// The log: its two formats, levels, and that neither a flood nor a reader that does not read holds
// the daemon up.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "daemon/log/fields.hpp"
#include "daemon/log/line_fd.hpp"
#include "daemon/log/spdlog_log.hpp"

using namespace starlease;
using log::as_json;
using log::as_text;

namespace {

struct ManualClock final : base::Clock {
  base::BootTime now{};
  [[nodiscard]] base::BootTime boot_now() const override { return now; }
  [[nodiscard]] base::WallTime wall_now() const override { return {}; }
};

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  /// What is in it now.
  [[nodiscard]] std::string drain() const {
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text(1 << 20, '\0');
    const ssize_t count = ::read(ends[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }
};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("text is logfmt: plain values bare, the others quoted") {
  CHECK(as_text("link up", {{"host", "db"}, {"attempts", 3}, {"why", "a b"}, {"empty", ""}}) ==
        R"(event="link up" host=db attempts=3 why="a b" empty="")");
  CHECK(as_text("x", {{"v", "a\"b=c\n\\"}}) == R"(event=x v="a\"b=c\u000a\\")");
}

TEST_CASE("json is members of one object") {
  CHECK(as_json("link up", {{"host", "d\"b"}, {"n", -1}}) ==
        R"("event":"link up","host":"d\"b","n":-1)");
}

TEST_CASE("values cannot break a line: bounded and valid UTF-8") {
  CHECK(as_json("x", {{"v", "\xff\xc3\xa4"}}) == R"("event":"x","v":"???")");
  CHECK(as_json("x", {{"v", "\xc3\xa4"}}) == "\"event\":\"x\",\"v\":\"\xc3\xa4\"");
  const std::string big(10'000, '\x01');
  const std::string text =
      as_json("x", {{"a", big}, {"b", big}, {"c", big}, {"d", big}, {"e", big}});
  CHECK(text.size() + 200 < 2 * log::max_line_bytes);
  CHECK(as_text("x", {{"a", std::string(600, 'y')}}).ends_with("yyy..."));
}

TEST_CASE("lines carry time and level, and the level is a threshold") {
  const Pipe pipe;
  const ManualClock clock;
  log::SpdlogLog text(
      {base::LogLevel::info, log::Format::text, log::Target::standard_error, pipe.ends[1]}, clock);
  text.debug("not this");
  text.warning("this", {{"n", 1}});
  const std::string line = pipe.drain();
  CHECK(line.starts_with("ts=20"));
  CHECK(line.ends_with("Z level=warning event=this n=1\n"));

  log::SpdlogLog json(
      {base::LogLevel::debug, log::Format::json, log::Target::standard_error, pipe.ends[1]}, clock);
  json.debug("that {}", {{"k", "{v} %v"}});
  const std::string object = pipe.drain();
  CHECK(object.starts_with("{\"ts\":\"20"));
  CHECK(object.ends_with("Z\",\"level\":\"debug\",\"event\":\"that {}\",\"k\":\"{v} %v\"}\n"));
}

TEST_CASE("a flood of one event is bounded a second, counted, and hides no other event") {
  const Pipe pipe;
  ManualClock clock;
  log::SpdlogLog text(
      {base::LogLevel::info, log::Format::text, log::Target::standard_error, pipe.ends[1]}, clock);
  for (int i = 0; i < 300; ++i) text.error("accept failed");
  text.info("other");
  std::string out = pipe.drain();
  CHECK(lines(out) == log::lines_per_event_and_second + 1);
  CHECK(out.ends_with("event=other\n"));
  clock.now += std::chrono::seconds(1);
  text.error("accept failed");
  out = pipe.drain();
  CHECK(lines(out) == 2);
  CHECK(out.contains("event=\"log lines suppressed\" of=\"accept failed\" count=250\n"));
}

TEST_CASE("a reader that does not read costs lines, not time, and is told how many") {
  const Pipe pipe;
  ManualClock clock;
  log::SpdlogLog text(
      {base::LogLevel::debug, log::Format::text, log::Target::standard_error, pipe.ends[1]}, clock);
  // Far more than a pipe holds; a write that waited would never come back.
  for (int i = 0; i < 5000; ++i) text.debug("filler", {{"text", std::string(100, 'x')}});
  const std::string first = pipe.drain();
  CHECK(lines(first) > 100);
  CHECK(first.ends_with("\n"));
  text.info("back");
  const std::string then = pipe.drain();
  CHECK(lines(then) == 2);
  CHECK(then.contains("event=\"log lines dropped\" count=" + std::to_string(5000 - lines(first))));
  CHECK(then.ends_with("event=back\n"));
}

TEST_CASE("a closed reader is no death") {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  ::close(pipe.ends[0]);
  pipe.ends[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  log::LineFd out(pipe.ends[1]);
  CHECK_FALSE(out.write("x\n"));
  CHECK(out.take_dropped() == 1);
  CHECK_FALSE(out.any_dropped());
}

TEST_CASE("a line is never longer than a pipe takes whole") {
  const Pipe pipe;
  log::LineFd out(pipe.ends[1]);
  CHECK(out.write(std::string(10'000, 'x')));
  CHECK(pipe.drain().size() == log::max_line_bytes);
}

TEST_CASE("without a journal, lines go to the other place and say so") {
  if (::access("/run/systemd/journal/stdout", F_OK) == 0) return;
  const Pipe pipe;
  const ManualClock clock;
  log::SpdlogLog text(
      {base::LogLevel::info, log::Format::text, log::Target::journald, pipe.ends[1]}, clock);
  CHECK(pipe.drain().contains(
      "level=warning event=\"no journal here; logging to standard error\"\n"));
}

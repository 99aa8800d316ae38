// The real Log: structured lines through spdlog, to standard error or the journal. A reader that
// does not read costs lines, never time: what cannot be written at once is dropped and counted.
// Owned by main(); never holds a secret, because no caller passes one.
#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace starlease::log {

enum class Format : std::uint8_t { text, json };
enum class Target : std::uint8_t { standard_error, journald };

struct Options {
  base::LogLevel level = base::LogLevel::info;
  Format format = Format::text;
  Target target = Target::standard_error;
  /// Where Target::standard_error goes.
  int descriptor = 2;
};

/// Lines of one event in one second; more are counted and told with the next one. Debug is not
/// bounded.
inline constexpr std::uint32_t lines_per_event_and_second = 50;

class SpdlogLog final : public base::Log {
 public:
  /// `clock` must outlive this. Without a journal, lines go to standard error, which is said there.
  SpdlogLog(const Options& options, const base::Clock& clock);
  ~SpdlogLog() override;

  void write(base::LogLevel level, std::string_view event,
             std::initializer_list<base::LogField> fields) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starlease::log

// The seam for logs: an event name and typed fields, never a format string with secrets in it.
// The real one writes structured lines through spdlog; tests keep them in memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace starlease::base {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t> value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  template <class I>
    requires std::is_integral_v<I>
  LogField(std::string_view k, I v) : key(k), value(static_cast<std::int64_t>(v)) {}
};

class Log {
 public:
  virtual ~Log() = default;
  /// `event` is a short fixed sentence; values are never secrets, metadata, lock keys or request
  /// bodies.
  virtual void write(LogLevel level, std::string_view event,
                     std::initializer_list<LogField> fields) = 0;

  void debug(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::debug, event, fields);
  }
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::info, event, fields);
  }
  void warning(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::warning, event, fields);
  }
  void error(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::error, event, fields);
  }
};

}  // namespace starlease::base

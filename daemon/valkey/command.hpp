// Builds one command in the server's wire form (an array of bulk strings). Binary safe; no format
// strings, so no argument can become another.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace starlease::valkey {

class Command {
 public:
  explicit Command(std::string_view name, std::size_t bytes_expected = 64) {
    body_.reserve(bytes_expected);
    arg(name);
  }

  Command& arg(std::string_view bytes) & {
    ++arguments_;
    header('$', bytes.size());
    body_.append(bytes).append("\r\n");
    return *this;
  }
  Command& arg(std::int64_t number) & {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return arg(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  template <class Argument>
  Command&& arg(Argument argument) && {
    arg(argument);
    return std::move(*this);
  }

  /// The finished command. REQUIRES: called last.
  [[nodiscard]] std::string finish() && {
    std::string whole;
    whole.swap(body_);
    header('*', arguments_);
    whole.insert(0, body_);
    return whole;
  }

 private:
  void header(char kind, std::size_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    body_.push_back(kind);
    body_.append(digits, end).append("\r\n");
  }

  std::string body_;
  std::size_t arguments_ = 0;
};

}  // namespace starlease::valkey

// The least that it takes to call Valkey: commands out, replies in as a flat list of texts. RESP2,
// so that a subscription's messages are plain arrays. Never looks at types.
#pragma once

#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/socket.hpp"

namespace starlease::bench {

class Resp {
 public:
  explicit Resp(const std::string& path) : socket_(path) {}

  template <class Arguments>
  void queue(const Arguments& arguments) {
    out_ += "*" + std::to_string(std::size(arguments)) + "\r\n";
    for (const std::string_view argument : arguments) {
      out_ += "$" + std::to_string(argument.size()) + "\r\n";
      out_.append(argument).append("\r\n");
    }
  }
  void flush() {
    socket_.write(out_);
    out_.clear();
  }

  /// The next reply's elements, integers as text; ends the program on an error reply.
  std::vector<std::string> read() {
    std::vector<std::string> items;
    read_value(items);
    return items;
  }

  template <class Arguments>
  std::vector<std::string> call(const Arguments& arguments) {
    queue(arguments);
    flush();
    return read();
  }
  std::vector<std::string> call(std::initializer_list<std::string_view> arguments) {
    return call(std::vector<std::string_view>(arguments));
  }

 private:
  std::string read_line() {
    std::size_t end = 0;
    while ((end = socket_.unread().find("\r\n")) == std::string_view::npos) socket_.more();
    std::string line(socket_.unread().substr(0, end));
    socket_.take(end + 2);
    return line;
  }

  void read_value(std::vector<std::string>& items) {
    std::string line = read_line();
    const char kind = line.at(0);
    line.erase(0, 1);
    if (kind == '-') {
      std::fprintf(stderr, "error reply: %s\n", line.c_str());
      std::exit(1);
    }
    if (kind != '$' && kind != '*') {
      items.push_back(std::move(line));
      return;
    }
    int count = 0;
    std::from_chars(line.data(), line.data() + line.size(), count);
    if (kind == '*') {
      for (int i = 0; i < count; ++i) read_value(items);
      return;
    }
    const auto size = static_cast<std::size_t>(count);
    while (socket_.unread().size() < size + 2) socket_.more();
    items.emplace_back(socket_.unread().substr(0, size));
    socket_.take(size + 2);
  }

  Socket socket_;
  std::string out_;
};

}  // namespace starlease::bench

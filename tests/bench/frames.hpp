// The least that it takes to be a worker: frames out and in, members found by their text. Never
// parses JSON.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tests/bench/socket.hpp"

namespace starlease::bench {

/// The value of a member whose name is unique in the frame, without quotes; empty if absent.
inline std::string member(std::string_view frame, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  std::size_t start = frame.find(key);
  if (start == std::string_view::npos) return {};
  start += key.size();
  if (frame[start] == '"') {
    return std::string(frame.substr(start + 1, frame.find('"', start + 1) - start - 1));
  }
  return std::string(frame.substr(start, frame.find_first_of(",}", start) - start));
}

class Worker {
 public:
  explicit Worker(const std::string& path) : socket_(path) {
    send(R"({"id":0,"op":"hello","protocol":1,"client":"bench/1"})");
    read();
  }

  void send(std::string_view payload) {
    const auto size = static_cast<std::uint32_t>(payload.size());
    std::string frame;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
      frame += static_cast<char>((size >> shift) & 0xFFU);
    }
    socket_.write(frame.append(payload));
  }

  /// The next frame's payload.
  std::string read() {
    while (socket_.unread().size() < 4) socket_.more();
    std::size_t size = 0;
    for (const char byte : socket_.unread().substr(0, 4)) {
      size = size << 8U | static_cast<unsigned char>(byte);
    }
    while (socket_.unread().size() < size + 4) socket_.more();
    std::string payload(socket_.unread().substr(4, size));
    socket_.take(size + 4);
    return payload;
  }

  std::string call(std::string_view payload) {
    send(payload);
    return read();
  }

 private:
  Socket socket_;
};

/// Ends the program if `frame` is not of that code.
inline void expect_code(const std::string& frame, std::string_view code) {
  if (member(frame, "code") == code) return;
  std::fprintf(stderr, "wanted %.*s, got %s\n", static_cast<int>(code.size()), code.data(),
               frame.c_str());
  std::exit(1);
}

inline std::string acquire_request(const std::string& target, int n, const char* more = "") {
  const std::string number = std::to_string(n);
  return R"({"id":)" + number + R"(,"op":"acquire","identity":{"tenant_id":"tenant-main",)" +
         R"("program_id":"program-a","target_namespace":"starintel-target","target_id":")" +
         target + R"(","actor_name":"bench"},"request_id":"a-)" + target + number +
         R"(","ttl_ms":30000)" + more + "}";
}

inline std::string release_request(const std::string& target, int n, const std::string& grant) {
  const std::string number = std::to_string(n);
  return R"({"id":)" + number + R"(,"op":"release","lease_id":")" + member(grant, "lease_id") +
         R"(","fencing_token":)" + member(grant, "fencing_token") + R"(,"request_id":"r-)" +
         target + number + R"("})";
}

}  // namespace starlease::bench

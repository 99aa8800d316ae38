// HELLO; see the header.
#include "daemon/valkey/greeting.hpp"

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/reply.hpp"
#include "daemon/valkey/server_errors.hpp"

namespace starlease::valkey {
namespace {

/// Room for the whole command, so that no copy of the password is left behind by growing.
constexpr std::size_t greeting_bytes = 1024;
constexpr std::size_t max_password_bytes = 512;

}  // namespace

base::Result<std::string, std::string> greeting(const Endpoint& endpoint, std::string_view name) {
  base::Secret password;
  if (endpoint.password) {
    auto read = endpoint.password();
    if (!read) return base::failed(read.error());
    password = std::move(*read);
  }
  if (password.reveal().size() > max_password_bytes) {
    return base::failed(fmt::format("it has more than {} bytes", max_password_bytes));
  }
  const bool authenticate = static_cast<bool>(endpoint.password);
  const std::size_t words = authenticate ? 7 : 4;
  std::string text;
  text.reserve(greeting_bytes + endpoint.user.size() + name.size());
  const auto word = [&text](std::string_view bytes) {
    text.append(fmt::format("${}\r\n", bytes.size())).append(bytes).append("\r\n");
  };
  text.append(fmt::format("*{}\r\n", words));
  word("HELLO");
  word("3");
  if (authenticate) {
    word("AUTH");
    word(endpoint.user.empty() ? std::string_view("default") : endpoint.user);
    word(password.reveal());
  }
  word("SETNAME");
  word(name);
  return text;
}

std::optional<Fault> refusal(const redisReply& reply) {
  if (const auto error = error_text(reply)) {
    const ErrorRule& rule = classify(*error);
    return Fault{fmt::format("the server refused HELLO: {}", printable(*error)),
                 std::string(rule.remedy)};
  }
  if (auto hello = parse_hello(reply); !hello) return hello.error();
  return std::nullopt;
}

base::Result<ServerHello, Fault> parse_hello(const redisReply& reply) {
  const auto get = [&reply](std::string_view key) -> std::string {
    const redisReply* value = find(reply, key);
    const auto text = value == nullptr ? std::nullopt : text_of(*value);
    return text ? std::string(*text) : std::string();
  };
  ServerHello hello{get("server"), get("version"), get("mode"), get("role")};
  const redisReply* protocol = find(reply, "proto");
  if (protocol == nullptr || integer_of(*protocol) != 3 || hello.version.empty() ||
      hello.mode.empty() || hello.role.empty()) {
    return base::failed(Fault{"the server's answer to HELLO is not as expected",
                              "check that it is a Valkey server, version 7.2 or newer"});
  }
  return hello;
}

}  // namespace starlease::valkey

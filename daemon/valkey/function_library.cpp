// The built-in function library; see the header.
#include "daemon/valkey/function_library.hpp"

#include <fmt/core.h>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/reply.hpp"
#include "daemon/valkey/server_errors.hpp"
#include "lua/function_library.hpp"

namespace starlease::valkey {

std::int64_t library_revision() { return lua::function_library_revision; }
std::string_view library_name() { return lua::function_library_name; }

std::string encode_library_load() {
  Command command("FUNCTION", lua::function_library_text.size() + 128);
  command.arg("LOAD").arg("REPLACE").arg(lua::function_library_text);
  return std::move(command).finish();
}

base::Result<std::optional<std::int64_t>, Fault> decode_version(const redisReply& reply) {
  if (const auto error = error_text(reply)) {
    if (error->starts_with("ERR Function not found")) return std::nullopt;
    return base::failed(Fault{
        fmt::format("the function library cannot be asked for its revision: {}", printable(*error)),
        std::string(classify(*error).remedy)});
  }
  if (const auto revision = integer_of(reply)) return *revision;
  return base::failed(Fault{"the function library's revision is no number",
                            "load the library of this program: starlease admin deploy"});
}

std::optional<Fault> load_refused(const redisReply& reply) {
  if (const auto error = error_text(reply)) {
    return Fault{fmt::format("the function library was not loaded: {}", printable(*error)),
                 error->starts_with("NOPERM")
                     ? "grant +function|load, or load it as another user: starlease admin deploy"
                     : std::string(classify(*error).remedy)};
  }
  if (text_of(reply) == library_name()) return std::nullopt;
  return Fault{"the answer to FUNCTION LOAD is not as expected", ""};
}

}  // namespace starlease::valkey

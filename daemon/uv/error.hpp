// What can go wrong with the operating system, as a value with a sentence for the operator. Nothing
// in this folder throws, and nothing here is a domain outcome.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/result.hpp"

namespace starlease::uv {

enum class ErrorKind : std::uint8_t {
  path_too_long,   ///< A Unix socket's address cannot hold the path.
  in_use,          ///< A live process serves the path, or another instance holds its lock.
  not_a_socket,    ///< Something that is not a socket lies at the path.
  not_listening,   ///< A descriptor that was passed in is no listening Unix stream socket.
  no_descriptors,  ///< EMFILE or ENFILE.
  system,          ///< Any other refusal of the kernel; see errno_value.
};

struct Error {
  ErrorKind kind = ErrorKind::system;
  int errno_value = 0;
  std::string message;  ///< What failed, why, and what to do about it.
};

template <class T>
using Result = base::Result<T, Error>;

/// Error of a system call: "<what>: <strerror>". `errno_value` is positive, as in errno.
[[nodiscard]] inline Error system_error(std::string_view what, int errno_value) {
  const bool exhausted = errno_value == EMFILE || errno_value == ENFILE;
  return {exhausted ? ErrorKind::no_descriptors : ErrorKind::system, errno_value,
          fmt::format("{}: {}{}", what, std::strerror(errno_value),
                      exhausted ? "; raise LimitNOFILE or the hard limit of open files" : "")};
}

/// The same for libuv's codes, which are negated errno values on Linux.
[[nodiscard]] inline Error uv_error(std::string_view what, int code) {
  return system_error(what, -code);
}

}  // namespace starlease::uv

// Result<T, E>: a value or a typed error. The project's only alias of std::expected, so that the
// carrier can be swapped in one place (g++ 12 has the type but not and_then or transform).
#pragma once

#include <expected>
#include <utility>

namespace starlease::base {

template <class T, class E>
using Result = std::expected<T, E>;

/// Wraps an error so that it converts to any Result with that error type.
template <class E>
[[nodiscard]] constexpr auto failed(E&& error) {
  return std::unexpected<std::decay_t<E>>(std::forward<E>(error));
}

}  // namespace starlease::base

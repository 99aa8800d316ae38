// An answer of the engine as the public type it stands for. For the sources of the public face.
#pragma once

#include <utility>

#include "lib/client/pending_calls.hpp"

namespace starlease::client {

[[nodiscard]] Error unexpected_answer();
/// What every operation on a lease that is lost answers.
[[nodiscard]] Error not_held();

/// The answer of kind A, made public by `convert`; or why there is none.
template <class A, class Convert>
auto as(Result<Answered>&& answered, Convert&& convert)
    -> Result<decltype(convert(std::declval<const A&>()))> {
  if (!answered) return std::move(answered).error();
  const auto* answer = std::get_if<A>(&answered->answer);
  if (answer == nullptr) return unexpected_answer();
  return convert(*answer);
}

}  // namespace starlease::client

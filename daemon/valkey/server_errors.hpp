// What each error answer of the server means: whether the call may have done something, what
// becomes of the link, when trying again makes sense, and what an operator has to change. One
// table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"

namespace starlease::valkey {

/// What is known about the call that got the error.
enum class CallEffect : std::uint8_t {
  none,     ///< refused before it began
  possible  ///< it began, and may have written before it failed
};

enum class LinkEffect : std::uint8_t {
  keep,  ///< other calls may well succeed
  /// This server, our standing with it, or its library is not what it was: begin anew, with all
  /// checks.
  reconnect,
};

struct ErrorRule {
  /// The error's first words; with `anywhere`, words in it.
  std::string_view mark;
  bool anywhere = false;
  CallEffect call = CallEffect::none;
  LinkEffect link = LinkEffect::keep;
  base::Milliseconds retry_after{};
  /// What to do, for the log.
  std::string_view remedy;
};

/// The rule for an error text. An error that no rule names counts as possibly done.
[[nodiscard]] const ErrorRule& classify(std::string_view error);

/// A server's text made safe for a log line: bounded, control characters replaced.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace starlease::valkey

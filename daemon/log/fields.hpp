// An event and its fields as text: logfmt for people, JSON members for machines. Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "lib/base/log.hpp"

namespace starlease::log {

/// Longest value that is shown; longer ones are cut. What does not fit a line is left out.
inline constexpr std::size_t max_value_bytes = 512;
inline constexpr std::size_t max_fields_bytes = 3500;

/// event="link up" host=db attempts=3
[[nodiscard]] std::string as_text(std::string_view event,
                                  std::initializer_list<base::LogField> fields);
/// "event":"link up","host":"db","attempts":3
[[nodiscard]] std::string as_json(std::string_view event,
                                  std::initializer_list<base::LogField> fields);

}  // namespace starlease::log

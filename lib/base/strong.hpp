// Distinct string and integer types, so that a lease id cannot be passed where a request id is
// meant.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace starlease::base {

template <class Tag>
struct StrongString {
  std::string value;

  StrongString() = default;
  explicit StrongString(std::string v) : value(std::move(v)) {}
  explicit StrongString(std::string_view v) : value(v) {}
  explicit StrongString(const char* v) : value(v) {}

  [[nodiscard]] bool empty() const { return value.empty(); }
  friend auto operator<=>(const StrongString&, const StrongString&) = default;
};

}  // namespace starlease::base

template <class Tag>
struct std::hash<starlease::base::StrongString<Tag>> {
  std::size_t operator()(const starlease::base::StrongString<Tag>& s) const noexcept {
    return std::hash<std::string>{}(s.value);
  }
};

// Unicode on utf8proc; see the header.
#include "lib/base/utf8.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "lib/base/assert.hpp"

namespace starlease::base {
namespace {

const utf8proc_uint8_t* raw(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

std::optional<std::string> map(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(raw(text), static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
}

}  // namespace

bool utf8_valid(std::string_view text) {
  while (!text.empty()) {
    utf8proc_int32_t character = 0;
    const auto used =
        utf8proc_iterate(raw(text), static_cast<utf8proc_ssize_t>(text.size()), &character);
    if (used <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(used));
  }
  return true;
}

std::optional<std::string> utf8_normalize(std::string_view text, bool fold_case) {
  constexpr int compose = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
  if (!fold_case) return map(text, compose);
  // Fold, then compose: folding can leave letters that have a composed form.
  auto folded = map(text, compose | UTF8PROC_CASEFOLD);
  return folded ? map(*folded, compose) : std::nullopt;
}

char32_t utf8_take(std::string_view& text) {
  utf8proc_int32_t character = 0;
  const auto used =
      utf8proc_iterate(raw(text), static_cast<utf8proc_ssize_t>(text.size()), &character);
  SL_ASSERT(used > 0);
  text.remove_prefix(static_cast<std::size_t>(used));
  return static_cast<char32_t>(character);
}

CharacterKind character_kind(char32_t character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterKind::letter;
    case UTF8PROC_CATEGORY_ND:
      return CharacterKind::digit;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return CharacterKind::mark;
    default:
      return CharacterKind::other;
  }
}

}  // namespace starlease::base

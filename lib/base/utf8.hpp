// Unicode text leaves on utf8proc: validation, NFC, case folding, letters and digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starlease::base {

/// True if `text` is well-formed UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool utf8_valid(std::string_view text);

/// NFC, with full case folding first where `fold_case`. Nothing if `text` is not valid UTF-8.
[[nodiscard]] std::optional<std::string> utf8_normalize(std::string_view text, bool fold_case);

enum class CharacterKind : unsigned char { letter, digit, mark, other };

/// Calls `visit(code point, kind)` for each character until it returns false.
/// REQUIRES: valid UTF-8. Returns false if `visit` did.
template <class Visit>
bool utf8_each(std::string_view text, Visit&& visit);

/// Decodes the first character of `text` and removes it. REQUIRES: valid, non-empty.
[[nodiscard]] char32_t utf8_take(std::string_view& text);
[[nodiscard]] CharacterKind character_kind(char32_t character);

template <class Visit>
bool utf8_each(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const char32_t character = utf8_take(text);
    if (!visit(character, character_kind(character))) return false;
  }
  return true;
}

}  // namespace starlease::base

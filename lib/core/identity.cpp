// Normalization of lock identities: trim, fold, compose, then a closed alphabet. The order matters:
// the alphabet is checked on what will be hashed, never on what was typed.
#include "lib/core/identity.hpp"

#include <algorithm>

#include "lib/base/utf8.hpp"
#include "lib/core/limits.hpp"

namespace starlease::core {
namespace {

constexpr std::string_view ascii_space = " \t\n\v\f\r";
constexpr std::string_view key_prefix = "starintel:target-lease:";
constexpr std::string_view punctuation = "._:-@+";

std::string field_name(Component component) {
  return "identity." + std::string(component_names[static_cast<std::size_t>(component)]);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(ascii_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(ascii_space) - first + 1);
}

/// True if every character is a letter, a digit, a mark on one of those, or allowed punctuation,
/// and the first one is a letter or digit.
bool alphabet_holds(std::string_view text) {
  bool first = true;
  return base::utf8_each(text, [&first](char32_t character, base::CharacterKind kind) {
    const bool word = kind == base::CharacterKind::letter || kind == base::CharacterKind::digit;
    const bool start = std::exchange(first, false);
    if (word) return true;
    if (start) return false;
    if (kind == base::CharacterKind::mark) return true;
    return character < 0x80 && punctuation.contains(static_cast<char>(character));
  });
}

Outcome<std::string> normalize_component(Component component, std::string_view raw, bool fold) {
  const auto refuse = [component](std::string why) {
    return invalid(field_name(component), std::move(why));
  };
  if (raw.size() > limits::raw_component_bytes) {
    return refuse("Shorten this component to at most 256 bytes");
  }
  auto text = base::utf8_normalize(trimmed(raw), fold);
  if (!text) return refuse("Send this component as valid UTF-8");
  if (text->empty()) return refuse("Give this component a value of 1 to 256 bytes");
  if (text->size() > limits::identity_component_bytes) {
    return refuse("Shorten this component to at most 256 bytes");
  }
  if (text->starts_with(key_prefix)) {
    return refuse("Send the identity's component, not a lock key");
  }
  if (text->contains("..") || !alphabet_holds(*text)) {
    return refuse(
        "Begin with a letter or digit and use only letters, digits and . _ : - @ +, without "
        "\"..\"");
  }
  return std::move(*text);
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::ranges::find(list, value) != list.end();
}

}  // namespace

Outcome<LockIdentity> normalize(const RawIdentity& raw, const IdentityPolicy& policy) {
  LockIdentity identity;
  for (std::size_t i = 0; i < component_count; ++i) {
    const auto component = static_cast<Component>(i);
    const bool optional =
        component == Component::workflow_name || component == Component::operation_class;
    if (!raw.components[i] && !optional) {
      return invalid(field_name(component), "Add this component to the identity");
    }
    // target_namespace stands before target_id, so it is normalized already.
    const bool keeps_case =
        component == Component::target_id &&
        contains(policy.case_sensitive_namespaces, identity.at(Component::target_namespace));
    auto value = normalize_component(component, raw.components[i].value_or("default"), !keeps_case);
    if (!value) return base::failed(std::move(value.error()));
    identity.components[i] = std::move(*value);
  }
  if (!contains(policy.operation_classes, identity.at(Component::operation_class))) {
    return invalid(field_name(Component::operation_class),
                   "Use one of the operation classes that the operator configured");
  }
  return identity;
}

}  // namespace starlease::core

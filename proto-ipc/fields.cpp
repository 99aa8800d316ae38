// Typed reads of members; see the header.
#include "proto-ipc/fields.hpp"

#include <algorithm>

#include "lib/base/assert.hpp"
#include "lib/base/rfc3339.hpp"

namespace starlease::ipc {
namespace {

constexpr std::string_view id_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";

std::string say_text(const TextRule& rule) {
  std::string sentence = "Send a string";
  if (rule.most_bytes != SIZE_MAX) {
    sentence += " of " + std::to_string(rule.least_bytes) + " to " +
                std::to_string(rule.most_bytes) + " bytes";
  }
  if (rule.id_alphabet) sentence += " of letters, digits and . _ : -";
  return sentence;
}

std::string say_integer(IntegerRule rule) {
  std::string sentence = "Send an integer";
  if (rule.least != INT64_MIN) sentence += " from " + std::to_string(rule.least);
  if (rule.most != INT64_MAX) sentence += " to " + std::to_string(rule.most);
  return sentence;
}

bool holds(std::string_view text, const TextRule& rule) {
  return text.size() >= rule.least_bytes && text.size() <= rule.most_bytes &&
         (!rule.id_alphabet || text.find_first_not_of(id_characters) == std::string_view::npos);
}

}  // namespace

void Fields::refuse(std::string_view name, std::string message) {
  if (!ok()) return;
  *refusal_ = core::invalid(prefix_ + std::string(name), std::move(message)).error();
}

std::optional<JsonValue> Fields::value(std::string_view name) {
  const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(asked_count_);
  if (std::find(asked_.begin(), end, name) == end) {
    SL_ASSERT(asked_count_ < most_names);
    asked_[asked_count_++] = name;
  }
  if (!ok()) return std::nullopt;
  return object_.find(name);
}

std::optional<std::string> Fields::text(std::string_view name, const TextRule& rule) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  const auto given = member->string();
  if (given && holds(*given, rule)) return std::string(*given);
  refuse(name, say_text(rule));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, IntegerRule rule) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  const auto given = member->integer();
  if (given && *given >= rule.least && *given <= rule.most) return given;
  refuse(name, say_integer(rule));
  return std::nullopt;
}

std::optional<bool> Fields::flag(std::string_view name) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  const auto given = member->boolean();
  if (!given) refuse(name, "Send true or false");
  return given;
}

std::optional<std::int64_t> Fields::time(std::string_view name) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  const auto text = member->string();
  const auto given = text ? base::rfc3339_parse(*text) : std::nullopt;
  if (!given) refuse(name, "Send a UTC time with milliseconds, as 2026-08-05T12:00:00.000Z");
  return given;
}

std::optional<std::size_t> Fields::choice(std::string_view name,
                                          std::span<const std::string_view> allowed) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  if (const auto given = member->string()) {
    const auto found = std::ranges::find(allowed, *given);
    if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  }
  std::string sentence = "Send one of";
  for (const std::string_view text : allowed) (sentence += " \"").append(text) += '"';
  refuse(name, std::move(sentence));
  return std::nullopt;
}

std::optional<Fields> Fields::object(std::string_view name) {
  const auto member = value(name);
  if (!member) return std::nullopt;
  if (member->is_object()) return Fields(*member, *refusal_, prefix_ + std::string(name) + '.');
  refuse(name, "Send an object");
  return std::nullopt;
}

std::optional<JsonValue> Fields::list(std::string_view name) {
  const auto member = value(name);
  if (!member || member->is_array()) return member;
  refuse(name, "Send an array");
  return std::nullopt;
}

void Fields::refuse_unknown() {
  if (!ok()) return;
  const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(asked_count_);
  for (const JsonValue member : object_.children()) {
    if (std::find(asked_.begin(), end, member.key()) != end) continue;
    constexpr std::size_t told_bytes = 64;
    // Cut where a character begins, as the name is told in JSON.
    std::string_view key = member.key().substr(0, told_bytes);
    while (key.size() < member.key().size() && !key.empty() &&
           (static_cast<unsigned char>(member.key()[key.size()]) & 0xc0) == 0x80) {
      key.remove_suffix(1);
    }
    return refuse(key, "Remove this field; the operation has none of that name");
  }
}

}  // namespace starlease::ipc

// The table made from the .def files, and typed assignment; see the header.
#include "daemon/config/key_table.hpp"

#include <charconv>

#include <fmt/format.h>

#include "lib/base/assert.hpp"

namespace starlease::config {
namespace {

#define FIELD(target, member) [](target& t) -> FieldRef { return &t.member; }
#define ROW(target, path, member, kind, def, low, high, unit, choices, why) \
  Key<target>{{path, Kind::kind, def, low, high, unit, choices, why}, FIELD(target, member)},
#define INTEGER(member, def, low, high, unit, why) \
  ROW(TARGET, #member, member, integer, #def, low, high, unit, "", why)
#define FLAG(member, def, why) ROW(TARGET, #member, member, flag, def, 0, 0, "", "", why)
#define TEXT(member, def, why) ROW(TARGET, #member, member, text, def, 0, 0, "", "", why)
#define NAMED_TEXT(path, member, def, why) ROW(TARGET, path, member, text, def, 0, 0, "", "", why)
#define CHOICE(member, def, choices, why) \
  ROW(TARGET, #member, member, choice, def, 0, 0, "", choices, why)
#define LIST(member, def, why) ROW(TARGET, #member, member, list, def, 0, 0, "", "", why)
#define MODE(member, def, why) ROW(TARGET, #member, member, mode, def, 0, 0777, "", "", why)
#define ACCOUNT(member, def, why) ROW(TARGET, #member, member, account, def, 0, 0, "", "", why)

#define SECTION(path, about)
#define TARGET Config
constexpr Key<Config> key_rows[] = {
#include "daemon/config/keys.def"
};
#undef TARGET
#define TARGET Principal
constexpr Key<Principal> principal_rows[] = {
#include "daemon/config/principal_keys.def"
};
#undef TARGET
#undef SECTION
#undef INTEGER
#undef FLAG
#undef TEXT
#undef NAMED_TEXT
#undef CHOICE
#undef LIST
#undef MODE
#undef ACCOUNT

#define SECTION(path, about) Section{path, about},
#define INTEGER(...)
#define FLAG(...)
#define TEXT(...)
#define NAMED_TEXT(...)
#define CHOICE(...)
#define LIST(...)
#define MODE(...)
constexpr Section section_rows[] = {
#include "daemon/config/keys.def"
};

template <class T>
std::optional<T> number(std::string_view text, int base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

const Untyped* untyped(const RawValue& value) { return std::get_if<Untyped>(&value); }

std::optional<std::int64_t> as_integer(const RawValue& value) {
  if (const auto* given = std::get_if<std::int64_t>(&value)) return *given;
  if (const auto* text = untyped(value)) return number<std::int64_t>(text->text, 10);
  return std::nullopt;
}

std::optional<bool> as_flag(const RawValue& value) {
  if (const auto* given = std::get_if<bool>(&value)) return *given;
  const auto* text = untyped(value);
  if (text != nullptr && text->text == "true") return true;
  if (text != nullptr && text->text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> as_text(const RawValue& value) {
  if (const auto* given = std::get_if<std::string>(&value)) return *given;
  if (const auto* text = untyped(value)) return text->text;
  return std::nullopt;
}

std::optional<std::string> as_account(const RawValue& value) {
  if (const auto* given = std::get_if<std::int64_t>(&value)) return std::to_string(*given);
  return as_text(value);
}

std::optional<std::vector<std::string>> as_list(const RawValue& value) {
  if (const auto* given = std::get_if<std::vector<std::string>>(&value)) return *given;
  const auto* text = untyped(value);
  if (text == nullptr) return std::nullopt;
  std::vector<std::string> items;
  std::string_view rest = text->text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    items.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return items;
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (true) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    choices = choices.substr(bar + 1);
  }
}

/// The value as written, for a message; cut, and without control characters.
std::string shown(const RawValue& value) {
  struct Show {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<std::string>&) const { return "a list"; }
    std::string operator()(const Untyped& v) const { return quoted(v.text); }
    std::string operator()(const Unsupported& v) const { return v.what; }
    static std::string quoted(std::string_view v) {
      std::string text(v.substr(0, 60));
      for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? '?' : c;
      return fmt::format("\"{}{}\"", text, v.size() > 60 ? "..." : "");
    }
  };
  return std::visit(Show{}, value);
}

bool store_integer(const KeyInfo& key, FieldRef field, const RawValue& value) {
  const auto parsed = as_integer(value);
  if (!parsed || *parsed < key.low || *parsed > key.high) return false;
  *std::get<std::int64_t*>(field) = *parsed;
  return true;
}

bool store_mode(const KeyInfo& key, FieldRef field, const RawValue& value) {
  const auto text = as_text(value);
  const auto parsed = text ? number<std::int64_t>(*text, 8) : std::nullopt;
  if (!parsed || *parsed < key.low || *parsed > key.high) return false;
  *std::get<std::int64_t*>(field) = *parsed;
  return true;
}

/// Text without a NUL: C interfaces would cut it there.
bool store_text(const KeyInfo& key, FieldRef field, const RawValue& value) {
  auto text = key.kind == Kind::account ? as_account(value) : as_text(value);
  if (!text || text->contains('\0')) return false;
  if (key.kind == Kind::choice && !is_choice(key.choices, *text)) return false;
  *std::get<std::string*>(field) = std::move(*text);
  return true;
}

bool store(const KeyInfo& key, FieldRef field, const RawValue& value) {
  switch (key.kind) {
    case Kind::integer:
      return store_integer(key, field, value);
    case Kind::mode:
      return store_mode(key, field, value);
    case Kind::text:
    case Kind::account:
    case Kind::choice:
      return store_text(key, field, value);
    case Kind::flag: {
      const auto parsed = as_flag(value);
      if (parsed) *std::get<bool*>(field) = *parsed;
      return parsed.has_value();
    }
    case Kind::list: {
      auto items = as_list(value);
      if (items) *std::get<std::vector<std::string>*>(field) = std::move(*items);
      return items.has_value();
    }
  }
  SL_UNREACHABLE();
}

template <class Target>
Target with_defaults(std::span<const Key<Target>> rows) {
  Target target;
  for (const Key<Target>& key : rows) {
    const auto wrong = assign(key, key.field(target), Untyped{std::string(key.default_text)});
    SL_ASSERT(!wrong);
  }
  return target;
}

}  // namespace

std::span<const Section> sections() { return section_rows; }
std::span<const Key<Config>> keys() { return key_rows; }
std::span<const Key<Principal>> principal_keys() { return principal_rows; }

std::string_view section_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::optional<std::string> assign(const KeyInfo& key, FieldRef field, const RawValue& value) {
  if (store(key, field, value)) return std::nullopt;
  return fmt::format("{} is {}; allowed: {}", key.path, shown(value), describe(key));
}

std::string describe(const KeyInfo& key) {
  switch (key.kind) {
    case Kind::integer:
      return fmt::format("integer, {} to {}{}{}", key.low, key.high, key.unit.empty() ? "" : " ",
                         key.unit);
    case Kind::flag:
      return "true or false";
    case Kind::text:
      return "text";
    case Kind::choice: {
      std::string text;
      for (char c : key.choices) text += c == '|' ? std::string("\" or \"") : std::string(1, c);
      return "\"" + text + "\"";
    }
    case Kind::list:
      return "list of texts";
    case Kind::mode:
      return "octal permissions as text, \"0000\" to \"0777\"";
    case Kind::account:
      return "number or name";
  }
  SL_UNREACHABLE();
}

Config default_config() { return with_defaults(keys()); }
Principal default_principal() { return with_defaults(principal_keys()); }

}  // namespace starlease::config

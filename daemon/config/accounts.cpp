// User and group lookup; see the header.
#include "daemon/config/accounts.hpp"

#include <charconv>

#include <grp.h>
#include <pwd.h>

namespace starlease::config {
namespace {

/// (uid_t)-1 means "no user" to the kernel, so it is no account.
constexpr std::uint32_t no_account = UINT32_MAX;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<std::uint32_t> number(const std::string& text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value == no_account) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint32_t> user_id(const std::string& text) {
  if (is_number(text)) return number(text);
  const auto* entry = text.empty() ? nullptr : ::getpwnam(text.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->pw_uid);
}

std::optional<std::uint32_t> group_id(const std::string& text) {
  if (is_number(text)) return number(text);
  const auto* entry = text.empty() ? nullptr : ::getgrnam(text.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->gr_gid);
}

}  // namespace starlease::config

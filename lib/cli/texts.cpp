// Durations and identities as text; see the header.
#include "lib/cli/texts.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace starlease::cli {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t milliseconds;
};
constexpr std::array<Unit, 5> units = {
    {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
constexpr std::int64_t longest_ms = std::int64_t{366} * 24 * 3'600'000;

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count < 0) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    if (count > longest_ms / unit.milliseconds) return std::nullopt;
    return std::chrono::milliseconds(count * unit.milliseconds);
  }
  return std::nullopt;
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const bool exact = ms != 0 && ms % unit->milliseconds == 0;
    if (exact || unit->suffix == "ms") {
      return std::to_string(ms / unit->milliseconds) + std::string(unit->suffix);
    }
  }
  return std::to_string(ms) + "ms";
}

std::optional<Identity> parse_identity(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t slash = text.find('/');
    if (text.substr(0, slash).empty()) return std::nullopt;
    parts.emplace_back(text.substr(0, slash));
    if (slash == std::string_view::npos) break;
    text.remove_prefix(slash + 1);
  }
  if (parts.size() < 5 || parts.size() > 7) return std::nullopt;
  Identity identity;
  identity.tenant_id = std::move(parts[0]);
  identity.program_id = std::move(parts[1]);
  identity.target_namespace = std::move(parts[2]);
  identity.target_id = std::move(parts[3]);
  identity.actor_name = std::move(parts[4]);
  if (parts.size() > 5) identity.workflow_name = std::move(parts[5]);
  if (parts.size() > 6) identity.operation_class = std::move(parts[6]);
  return identity;
}

std::string format_identity(const Identity& identity) {
  std::string text = identity.tenant_id + "/" + identity.program_id + "/" +
                     identity.target_namespace + "/" + identity.target_id + "/" +
                     identity.actor_name;
  const bool standard =
      identity.workflow_name == "default" && identity.operation_class == "default";
  if (!standard) text += "/" + identity.workflow_name + "/" + identity.operation_class;
  return text;
}

}  // namespace starlease::cli

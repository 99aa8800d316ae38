// Pages and cursors; see the header.
#include "lib/service/ops/page.hpp"

#include <algorithm>

#include "lib/base/base64url.hpp"
#include "lib/core/canonical.hpp"
#include "lib/core/limits.hpp"

namespace starlease::service {
namespace {

constexpr std::size_t mac_bytes = 16;
/// What stands around the leases in an answer.
constexpr std::int64_t answer_bytes = 1024;

std::string encoded(std::string_view bytes) {
  return base::base64url_encode(std::as_bytes(std::span(bytes)));
}

}  // namespace

CursorSeal::CursorSeal(const base::MacKey& key, std::string_view operation,
                       const core::PrincipalId& caller, std::span<const std::string> filter)
    : key_(&key) {
  std::vector<std::string> parts = {std::string(operation), caller.value};
  parts.insert(parts.end(), filter.begin(), filter.end());
  question_ = core::canonical_array(parts);
}

std::string CursorSeal::mac(std::string_view position) const {
  core::CanonicalObject sealed;
  sealed.add("cursor", question_).add("position", encoded(position));
  const base::Mac whole = base::keyed_mac(*key_, std::move(sealed).finish());
  return std::string(base::as_chars(whole).substr(0, mac_bytes));
}

std::string CursorSeal::seal(std::string_view position) const {
  return encoded(std::string(position) + mac(position));
}

core::Outcome<std::string> CursorSeal::open(const std::optional<std::string>& cursor) const {
  if (!cursor) return std::string();
  const auto bytes = base::base64url_decode(*cursor);
  if (bytes && bytes->size() > mac_bytes) {
    const std::size_t length = bytes->size() - mac_bytes;
    std::string position(reinterpret_cast<const char*>(bytes->data()), length);
    const std::string expected = mac(position);
    const auto given = std::span(*bytes).subspan(length);
    if (base::equal_constant_time(std::as_bytes(std::span(expected)), given)) return position;
  }
  return core::invalid("cursor",
                       "This cursor is not one of this question's; start again without it");
}

std::size_t page_size(const Settings& settings, const core::PageRequest& page) {
  const std::int64_t asked = page.size.value_or(core::limits::default_page);
  const auto each = static_cast<std::int64_t>(core::limits::listed_lease_bytes);
  const std::int64_t fit = (settings.max_frame_bytes - answer_bytes) / each;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, std::min({asked, fit, core::limits::largest_page})));
}

BootTime enough_at(const Settings& settings, BootTime received_at) {
  return received_at + settings.policy.default_timeout / 2;
}

}  // namespace starlease::service

// Any seven texts: normalization refuses with a field, or gives an identity that keeps the rules,
// is its own normal form, and has a key.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/core/identity.hpp"
#include "lib/core/lock_key.hpp"

namespace core = starlease::core;

namespace {

constexpr std::string_view forbidden = "/\\%*?[{ \t\r\n";

void check(const core::RawIdentity& raw) {
  const core::IdentityPolicy policy;
  const auto identity = core::normalize(raw, policy);
  if (!identity) {
    if (identity.error().field.empty() || identity.error().message.empty()) std::abort();
    return;
  }
  core::RawIdentity again;
  for (std::size_t i = 0; i < identity->components.size(); ++i) {
    const std::string& text = identity->components[i];
    if (text.empty() || text.size() > 256) std::abort();
    if (text.find_first_of(forbidden) != std::string::npos) std::abort();
    again.components[i] = text;
  }
  const auto twice = core::normalize(again, policy);
  if (!twice || twice->components != identity->components) std::abort();
  if (core::lock_digest(*twice) != core::lock_digest(*identity)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  core::RawIdentity raw;
  for (std::size_t i = 0; i < raw.components.size(); ++i) {
    const auto end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    // The last one, the operation class, is one of a closed list: usually let it be absent.
    if (i + 1 < raw.components.size() || text.size() > 8) raw.components[i] = std::string(text);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  check(raw);
  return 0;
}

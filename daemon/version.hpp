// The version that the build gives; nothing else.
#pragma once

namespace starlease {

inline constexpr const char* version = STARLEASE_VERSION;

}  // namespace starlease

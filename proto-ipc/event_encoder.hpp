// Event -> payload: the daemon's side. ipc.md "Events".
#pragma once

#include <string>

#include "lib/core/lease_event.hpp"

namespace starlease::ipc {

[[nodiscard]] std::string encode_event(const core::Event& event);

}  // namespace starlease::ipc

// A failure that only an operator can act on: what happened, and what to change. It is logged; no
// caller of the service ever sees it. valkey_store alone turns it into a store::Status.
#pragma once

#include <string>

namespace starlease::valkey {

struct Fault {
  /// What happened, as a phrase without a secret in it.
  std::string what;
  /// What to do about it; empty where nothing but waiting helps.
  std::string remedy;
};

}  // namespace starlease::valkey

// Failures that the library itself finds; see the header.
#include "lib/client/answered.hpp"

namespace starlease::client {

Error unexpected_answer() {
  Error error;
  error.code = ErrorCode::protocol_violation;
  error.message = "The daemon answered with something that was not asked";
  return error;
}

Error not_held() {
  Error error;
  error.code = ErrorCode::lease_lost;
  error.message = "The lease is no longer held; stop the work it covers";
  return error;
}

}  // namespace starlease::client

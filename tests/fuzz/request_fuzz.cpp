// Any payload is a request, a refused one or no message: never a crash. A request that is read and
// written again is read as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proto-ipc/request_decoder.hpp"
#include "proto-ipc/request_encoder.hpp"

namespace ipc = starlease::ipc;

namespace {

void check(std::string_view payload, bool admin) {
  static ipc::RequestDecoder decoder;
  const auto decoded = decoder.decode(payload, admin);
  const auto* request = std::get_if<ipc::Request>(&decoded);
  if (request == nullptr) return;
  const std::string written = ipc::encode_request(request->id, request->call);
  const auto again = decoder.decode(written, admin);
  const auto* same = std::get_if<ipc::Request>(&again);
  if (same == nullptr || same->id != request->id) std::abort();
  if (ipc::encode_request(same->id, same->call) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  check(payload, false);
  check(payload, true);
  return 0;
}

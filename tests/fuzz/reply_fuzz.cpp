// What a daemon may send, as the client reads it: never a crash, and errors are sentences.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proto-ipc/reply_decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static starlease::ipc::ReplyDecoder decoder;
  const auto message = decoder.decode({reinterpret_cast<const char*>(data), size});
  if (!message && message.error().message.empty()) std::abort();
  return 0;
}

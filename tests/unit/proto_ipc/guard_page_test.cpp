// A payload that ends where readable memory ends: no byte behind it is touched, whatever its
// length.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "proto-ipc/frame.hpp"
#include "proto-ipc/reply_decoder.hpp"
#include "proto-ipc/request_decoder.hpp"

namespace ipc = starlease::ipc;

namespace {

/// Readable pages with one behind them that faults.
class GuardedPages {
 public:
  explicit GuardedPages(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((bytes + page_ - 1) / page_ * page_),
        start_(static_cast<char*>(mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(start_ != MAP_FAILED);
    REQUIRE(mprotect(start_ + size_, page_, PROT_NONE) == 0);
  }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  ~GuardedPages() { munmap(start_, size_ + page_); }

  /// `text` so that its last byte is the last readable one.
  std::string_view place(std::string_view text) {
    char* const at = start_ + size_ - text.size();
    std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }

 private:
  std::size_t page_;
  std::size_t size_;
  char* start_;
};

std::string ping_of(std::size_t bytes) {
  const std::string head = R"({"id":1,"op":"ping")";
  const std::string tail = "}";
  return head + std::string(bytes - head.size() - tail.size(), ' ') + tail;
}

}  // namespace

TEST_CASE("guard page: whole requests of every length are read without a fault") {
  GuardedPages pages(8192);
  ipc::RequestDecoder decoder;
  for (std::size_t bytes = 20; bytes <= 4200; ++bytes) {
    const auto decoded = decoder.decode(pages.place(ping_of(bytes)), false);
    REQUIRE(std::holds_alternative<ipc::Request>(decoded));
  }
}

TEST_CASE("guard page: requests that end in white space are read without a fault") {
  GuardedPages pages(4096);
  ipc::RequestDecoder decoder;
  for (std::size_t spaces = 0; spaces <= 300; ++spaces) {
    const std::string payload = ping_of(40) + std::string(spaces, ' ');
    REQUIRE(std::holds_alternative<ipc::Request>(decoder.decode(pages.place(payload), false)));
  }
}

TEST_CASE("guard page: truncated requests of every length are refused without a fault") {
  GuardedPages pages(8192);
  ipc::RequestDecoder decoder;
  const std::string whole =
      R"({"id":"h","op":"hello","protocol":1,"client":"w\u00e9rk\ud83d\ude00r/1","notify":[],)"
      R"("credential":")" +
      std::string(900, 'c') + "\"}";
  REQUIRE(std::holds_alternative<ipc::Request>(decoder.decode(pages.place(whole), false)));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto payload = pages.place(std::string_view(whole).substr(0, bytes));
    REQUIRE(std::holds_alternative<ipc::FrameError>(decoder.decode(payload, false)));
    REQUIRE_FALSE(ipc::decode_message(payload));
  }
}

TEST_CASE("guard page: frames at the end of the input are handed out without a fault") {
  GuardedPages pages(8192);
  ipc::RequestDecoder decoder;
  for (std::size_t bytes = 20; bytes <= 600; ++bytes) {
    ipc::FrameDecoder frames(ipc::default_max_frame_bytes);
    const std::string_view stream = pages.place(ipc::encode_frame(ping_of(bytes)));
    frames.feed(std::as_bytes(std::span(stream.data(), stream.size())));
    const auto payload = frames.next();
    REQUIRE(payload);
    REQUIRE(payload->has_value());
    REQUIRE(std::holds_alternative<ipc::Request>(decoder.decode(**payload, false)));
    REQUIRE_FALSE((*frames.next()).has_value());
  }
}

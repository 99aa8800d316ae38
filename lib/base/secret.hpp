// A secret in guarded, locked memory (libsodium), wiped when dropped. No copy, no formatter: it is
// read only through reveal(), whose calls are easy to find.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace starlease::base {

class Secret {
 public:
  Secret() = default;
  /// Copies `bytes` into guarded memory. The caller wipes its own copy (wipe()).
  explicit Secret(std::string_view bytes);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The bytes, for handing to a library call; never to a log, an error or a longer-lived copy.
  [[nodiscard]] std::string_view reveal() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Overwrites memory in a way that the compiler keeps.
void wipe(std::span<char> bytes);

}  // namespace starlease::base

// Guarded secrets; see the header.
#include "lib/base/secret.hpp"

#include <sodium.h>

#include <cstring>
#include <utility>

#include "lib/base/assert.hpp"

namespace starlease::base {

Secret::Secret(std::string_view bytes) : size_(bytes.size()) {
  if (size_ == 0) return;
  data_ = static_cast<char*>(sodium_malloc(size_));
  SL_ASSERT(data_ != nullptr);
  std::memcpy(data_, bytes.data(), size_);
  sodium_mprotect_readonly(data_);
}

Secret::Secret(Secret&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Secret::~Secret() { sodium_free(data_); }

void wipe(std::span<char> bytes) { sodium_memzero(bytes.data(), bytes.size()); }

}  // namespace starlease::base

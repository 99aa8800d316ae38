// Ownership of one libuv handle. The memory outlives the owner until libuv's close callback, which
// is the only place that frees it. After close() no callback of the handle follows.
#pragma once

#include <uv.h>

#include <memory>
#include <utility>

#include "lib/base/assert.hpp"

namespace starlease::uv {

template <class H>
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }

  /// Runs `init(H*)`, one of uv_*_init. On an error of it (returned, negative) nothing is kept.
  /// REQUIRES: not open.
  template <class Init>
  [[nodiscard]] int open(Init&& init) {
    SL_ASSERT(handle_ == nullptr);
    auto fresh = std::make_unique<H>();
    const int code = std::forward<Init>(init)(fresh.get());
    if (code == 0) handle_ = fresh.release();
    return code;
  }

  /// Stops the handle for good; does nothing if it is not open.
  void close() {
    if (handle_ == nullptr) return;
    uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(handle_, nullptr)),
             [](uv_handle_t* closed) { delete reinterpret_cast<H*>(closed); });
  }

  [[nodiscard]] H* get() const { return handle_; }
  [[nodiscard]] explicit operator bool() const { return handle_ != nullptr; }

 private:
  H* handle_ = nullptr;
};

/// True if the owner closed the handle, for instance from within the turn function.
template <class H>
[[nodiscard]] bool is_closing(const H* handle) {
  return uv_is_closing(reinterpret_cast<const uv_handle_t*>(handle)) != 0;
}

}  // namespace starlease::uv

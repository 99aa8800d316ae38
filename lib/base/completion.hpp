// A callback that must be called exactly once. Forgetting it would leave a worker without an answer,
// so that is an assertion, not a leak.
#pragma once

#include <functional>
#include <utility>

#include "lib/base/assert.hpp"

namespace starlease::base {

template <class T>
class Completion {
 public:
  using Function = std::move_only_function<void(T)>;

  Completion() = default;
  template <class F>
    requires std::is_invocable_v<F&, T> && (!std::is_same_v<std::decay_t<F>, Completion>)
  Completion(F&& function) : function_(std::forward<F>(function)) {}  // NOLINT(google-explicit-*)
  Completion(Completion&& other) noexcept : function_(std::exchange(other.function_, nullptr)) {}
  Completion& operator=(Completion&& other) noexcept {
    SL_ASSERT(!function_);
    function_ = std::exchange(other.function_, nullptr);
    return *this;
  }
  ~Completion() { SL_ASSERT(!function_); }

  /// Hands the result over. REQUIRES: not called before.
  void operator()(T value) {
    SL_ASSERT(function_);
    auto function = std::exchange(function_, nullptr);
    function(std::move(value));
  }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(function_); }

  /// Gives the duty up: for shutdown only, when nobody is left to hear the answer.
  void abandon() { function_ = nullptr; }

 private:
  Function function_;
};

}  // namespace starlease::base

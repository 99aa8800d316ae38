// A callback that is called exactly once: twice is an assertion. Dropping it unanswered is for
// shutdown only, when nobody is left to hear; it then frees what it holds.
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
    function_ = std::exchange(other.function_, nullptr);
    return *this;
  }
  ~Completion() = default;

  /// Hands the result over. REQUIRES: not called before.
  void operator()(T value) {
    SL_ASSERT(function_);
    auto function = std::exchange(function_, nullptr);
    function(std::move(value));
  }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(function_); }

 private:
  Function function_;
};

}  // namespace starlease::base

// Signals as calls on the loop.
#pragma once

#include <uv.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "daemon/uv/handle.hpp"
#include "daemon/uv/loop.hpp"

namespace starlease::uv {

class Signals {
 public:
  using Arrived = std::move_only_function<void(int number)>;

  /// `arrived` is called on the loop for each of `numbers`, until this is destroyed.
  /// Errors: no_descriptors, system.
  [[nodiscard]] static Result<std::unique_ptr<Signals>> create(Loop& loop,
                                                               std::initializer_list<int> numbers,
                                                               Arrived arrived);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() = default;

 private:
  explicit Signals(Arrived arrived) : arrived_(std::move(arrived)) {}
  static void entry(uv_signal_t* handle, int number);

  Arrived arrived_;
  std::vector<std::unique_ptr<Handle<uv_signal_t>>> handles_;
};

}  // namespace starlease::uv

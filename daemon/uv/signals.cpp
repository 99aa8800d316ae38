// Signals on the loop; see the header.
#include "daemon/uv/signals.hpp"

namespace starlease::uv {

Result<std::unique_ptr<Signals>> Signals::create(Loop& loop, std::initializer_list<int> numbers,
                                                 Arrived arrived) {
  std::unique_ptr<Signals> signals(new Signals(std::move(arrived)));
  for (const int number : numbers) {
    auto handle = std::make_unique<Handle<uv_signal_t>>();
    int code = handle->open([&](uv_signal_t* raw) { return uv_signal_init(loop.raw(), raw); });
    if (code == 0) {
      handle->get()->data = signals.get();
      code = uv_signal_start(handle->get(), &Signals::entry, number);
    }
    if (code != 0) return base::failed(uv_error("cannot watch a signal", code));
    signals->handles_.push_back(std::move(handle));
  }
  return signals;
}

void Signals::entry(uv_signal_t* handle, int number) {
  Loop::of(handle->loop).enter([&] {
    if (!is_closing(handle)) static_cast<Signals*>(handle->data)->arrived_(number);
  });
}

}  // namespace starlease::uv

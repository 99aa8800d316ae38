// The server's moods; see the header.
#include "tests/sim/backend.hpp"

#include "tests/sim/host.hpp"

namespace starlease::sim {

Backend::Backend(EventQueue& queue, std::uint32_t partitions, std::int64_t drift_ppm,
                 Milliseconds clock_offset, std::vector<Observer*>& observers)
    : queue_(queue),
      drift_ppm_(drift_ppm),
      clock_offset_(clock_offset),
      observers_(observers),
      rules_(partitions, [this] { return clock(); }),
      copy_(rules_.data()) {
  rules_.on_notice([this](const store::Notice& notice) {
    for (Client* client : clients_) client->notice(notice);
  });
}

core::BackendTime Backend::clock() const {
  const Time run = queue_.now() + queue_.now() * drift_ppm_ / 1'000'000;
  return core::backend_time((epoch + clock_offset_ + base::floor_ms(run)).count());
}

void Backend::set_clock(Milliseconds offset) {
  const bool ahead = offset > clock_offset_;
  clock_offset_ = offset;
  if (!ahead) return;
  for (Observer* observer : observers_) observer->clock_jumped(queue_.now());
}

void Backend::command(std::move_only_function<void(bool)> carry_out, bool writes) {
  ++commands_;
  switch (mood_) {
    case Mood::down:
      return;  // lost with the connection
    case Mood::stalled:
      waiting_.push_back(std::move(carry_out));
      return;
    case Mood::refusing:
      return carry_out(false);
    case Mood::full:
      return carry_out(!writes);
    case Mood::serving:
      return carry_out(true);
  }
}

void Backend::be(Mood mood) {
  mood_ = mood;
  if (mood != Mood::serving) return;
  for (auto& carry_out : std::exchange(waiting_, {})) carry_out(true);
}

void Backend::die(Survives survives) {
  be(Mood::down);
  waiting_.clear();
  switch (survives) {
    case Survives::everything:
      rules_.restart();
      break;
    case Survives::last_copy:
      rules_.restart_with(copy_);
      break;
    case Survives::nothing:
      rules_.wipe();
      break;
  }
  if (survives != Survives::everything) {
    for (Observer* observer : observers_) observer->data_lost(queue_.now());
  }
  for (Client* client : std::vector(clients_)) client->server_went_away();
}

}  // namespace starlease::sim

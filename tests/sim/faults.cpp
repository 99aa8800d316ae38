// When which fault comes; see the header.
#include "tests/sim/faults.hpp"

namespace starlease::sim {
namespace {

constexpr Nanoseconds copies_every = 300ms;
constexpr Milliseconds furthest_back{-8000};
constexpr Milliseconds furthest_ahead{3000};

}  // namespace

Faults::Faults(EventQueue& queue, Chance chance, const Plan& plan, Targets targets)
    : queue_(queue), chance_(chance), plan_(plan), to_(targets) {}

void Faults::begin() {
  const Rates& rates = plan_.rates;
  if (plan_.death_loses_tail > 0) every(copies_every, [this] { to_.backend.keep_copy(); });
  every(rates.server_death, [this] { server_death(); });
  every(rates.server_mood, [this] { server_mood(); });
  every(rates.server_clock_step, [this] { server_clock_step(); });
  every(rates.wall_step, [this] {
    count(Fault::wall_step);
    one_of(to_.hosts).step_wall(Milliseconds(chance_.between(-10'000, 10'000)));
  });
  every(rates.daemon_crash, [this] {
    count(Fault::daemon_crash);
    one_of(to_.daemons).crash(chance_.span(10ms, 3s));
  });
  every(rates.daemon_stop, [this] {
    count(Fault::daemon_stop);
    stop(one_of(to_.daemons).process(), 4s);
  });
  every(rates.daemon_drain, [this] {
    count(Fault::daemon_drain);
    one_of(to_.daemons).drain(chance_.span(10ms, 1s));
  });
  every(rates.worker_stop, [this] {
    count(Fault::worker_stop);
    stop(&one_of(to_.workers).process(), 4s);
  });
  every(rates.worker_death, [this] {
    count(Fault::worker_death);
    one_of(to_.workers).die();
  });
}

void Faults::every(Nanoseconds mean, std::function<void()> inject) {
  if (mean == Nanoseconds(0)) return;
  const Time next = queue_.now() + chance_.span(mean / 4, mean * 2);
  if (next > plan_.faults_end) return;
  queue_.at(next, [this, mean, inject = std::move(inject)] {
    inject();
    every(mean, inject);
  });
}

void Faults::server_death() {
  if (!to_.backend.accepts()) return;
  count(Fault::server_death);
  auto survives = Backend::Survives::everything;
  if (chance_.happens(plan_.death_loses_tail)) survives = Backend::Survives::last_copy;
  if (chance_.happens(plan_.death_loses_all)) survives = Backend::Survives::nothing;
  if (survives != Backend::Survives::everything) count(Fault::server_lost_data);
  to_.backend.die(survives);
  queue_.after(chance_.span(30ms, 4s), [this] { to_.backend.come_back(); });
}

void Faults::server_mood() {
  if (to_.backend.mood() != Mood::serving) return;
  count(Fault::server_mood);
  constexpr std::array moods = {Mood::stalled, Mood::refusing, Mood::full};
  const Mood mood = moods[static_cast<std::size_t>(chance_.below(moods.size()))];
  to_.backend.be(mood);
  queue_.after(chance_.span(50ms, 3s), [this, mood] {
    if (to_.backend.mood() == mood) to_.backend.be(Mood::serving);
  });
}

void Faults::server_clock_step() {
  count(Fault::server_clock_step);
  to_.backend.set_clock(
      Milliseconds(chance_.between(furthest_back.count(), furthest_ahead.count())));
}

void Faults::stop(Process* process, Nanoseconds most) {
  if (process == nullptr || process->stopped()) return;
  process->stop();
  queue_.after(chance_.tail(50ms, most), [weak = process->weak_from_this()] {
    if (const auto self = weak.lock()) self->go_on();
  });
}

void Faults::heal() {
  healed_ = true;
  to_.backend.set_clock(Milliseconds(0));
  if (to_.backend.mood() != Mood::serving) to_.backend.come_back();
  for (const auto& host : to_.hosts) host->step_wall(-host->wall_offset());
  for (const auto& daemon : to_.daemons) {
    if (Process* process = daemon->process()) process->go_on();
  }
  for (const auto& worker : to_.workers) worker->process().go_on();
}

}  // namespace starlease::sim

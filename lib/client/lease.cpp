// The handle of a held lease; see <starlease/lease.hpp>.
#include <starlease/lease.hpp>

#include "lib/client/boot_clock.hpp"
#include "lib/client/engine.hpp"
#include "lib/client/held_lease.hpp"

namespace starlease {
namespace {

const Grant& no_grant() noexcept {
  static const Grant none;
  return none;
}

/// Ends what a handle stands for: released if it is still held, forgotten by the client.
void let_go(std::unique_ptr<client::HeldLease> held) {
  if (!held || held->engine == nullptr) return;
  client::Engine& engine = *held->engine;
  const bool is_held = !held->loss;
  engine.forget(*held);
  if (is_held) engine.release(*held);
}

}  // namespace

Lease::Lease() noexcept = default;
Lease::Lease(std::unique_ptr<client::HeldLease> held) noexcept : held_(std::move(held)) {}
Lease::Lease(Lease&& other) noexcept = default;
Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    let_go(std::move(held_));
    held_ = std::move(other.held_);
  }
  return *this;
}
Lease::~Lease() { let_go(std::move(held_)); }

bool Lease::valid() const noexcept {
  return held_ && !held_->loss && held_->attached &&
         client::boot_now_ns() < held_->grant.valid_until_boottime_ns;
}

std::chrono::nanoseconds Lease::valid_for() const noexcept {
  if (!held_ || held_->loss || !held_->attached) return std::chrono::nanoseconds(0);
  const std::int64_t left = held_->grant.valid_until_boottime_ns - client::boot_now_ns();
  return std::chrono::nanoseconds(left > 0 ? left : 0);
}

std::int64_t Lease::valid_until_boottime_ns() const noexcept {
  return held_ ? held_->grant.valid_until_boottime_ns : 0;
}

bool Lease::lost() const noexcept { return held_ && held_->loss.has_value(); }

std::optional<Loss> Lease::loss() const {
  if (!held_) return std::nullopt;
  return held_->loss;
}

void Lease::on_lost(OnLost callback) {
  if (!held_) return;
  held_->on_lost = std::move(callback);
  if (held_->loss && held_->engine != nullptr) held_->engine->tell_loss(*held_);
}

const std::string& Lease::id() const noexcept { return grant().lease.lease_id; }
std::int64_t Lease::token() const noexcept { return grant().lease.fencing_token; }
const Grant& Lease::grant() const noexcept { return held_ ? held_->grant : no_grant(); }
const std::string& Lease::envelope_json() const noexcept { return grant().envelope_json; }

void Lease::forget() noexcept {
  if (held_ && held_->engine != nullptr) held_->engine->forget(*held_);
  held_.reset();
}

}  // namespace starlease

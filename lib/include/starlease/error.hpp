// How libstarlease reports failure: a closed set of codes, an Error with what to do about it, and
// Result, which holds a value or an Error. Needs C++20; throws nothing of its own and needs no
// other header of the project.
#pragma once

#if __cplusplus < 202002L
#error "starlease needs C++20: compile with -std=c++20 or newer"
#endif

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace starlease {

/// Why an operation did not succeed. The first twelve are the daemon's answers (the names are those
/// on the wire); the others are found by the library itself.
enum class ErrorCode : std::uint8_t {
  invalid_lease_request,
  invalid_credential,
  access_denied,
  lease_conflict,
  lease_lost,
  idempotency_conflict,
  deadline_exceeded,
  lease_rate_limited,
  lease_backend_unavailable,
  lease_outcome_unknown,
  lease_not_found,
  commit_conflict,
  /// Nothing listens on the socket, or it may not be opened; nothing was asked.
  no_daemon,
  /// The connection broke after the request was sent and could not be restored before the deadline;
  /// whether it was carried out is not known.
  connection_lost,
  /// The request was sent and no answer came before the caller's deadline; whether it was carried
  /// out is not known, and an answer that comes later is not used.
  local_deadline,
  /// The daemon sent something that is no valid answer.
  protocol_violation,
};

/// The code's stable name: "lease_conflict", "no_daemon".
[[nodiscard]] std::string_view name(ErrorCode code) noexcept;

/// True where the same operation may succeed later: the five that the protocol names, and
/// no_daemon, connection_lost and local_deadline.
[[nodiscard]] bool retryable(ErrorCode code) noexcept;

/// True where the operation may have been carried out: repeat it with the same request id, or
/// resolve it, before doing anything that depends on it.
[[nodiscard]] bool outcome_unknown(ErrorCode code) noexcept;

/// One failure. `message` is a sentence for a person that says what to do; it holds no secrets.
struct Error {
  ErrorCode code{};
  std::string message;
  /// The offending input, where the request was not valid: "identity.tenant_id", "ttl_ms".
  std::string field;
  /// When a retry makes sense, where the daemon knows.
  std::optional<std::chrono::milliseconds> retry_after;
  /// commit_conflict: the revision that stands there; 0 if there is none.
  std::optional<std::int64_t> revision;
  /// Finds this answer in the daemon's log; empty where no answer came.
  std::string correlation_id;

  [[nodiscard]] bool retryable() const noexcept { return starlease::retryable(code); }
  [[nodiscard]] bool outcome_unknown() const noexcept { return starlease::outcome_unknown(code); }
  /// "lease_conflict: Target lease is unavailable", with the field where there is one.
  [[nodiscard]] std::string describe() const;
};

/// A value of T or an Error. Reading the one that is not there ends the process: test first.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & { return get<0>(state_); }
  [[nodiscard]] const T& value() const& { return get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::move(get<0>(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::move(get<1>(state_)); }

 private:
  template <std::size_t I, class State>
  static auto& get(State& state) {
    auto* held = std::get_if<I>(&state);
    if (held == nullptr) std::abort();
    return *held;
  }
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Error& error() const& {
    if (!error_) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace starlease

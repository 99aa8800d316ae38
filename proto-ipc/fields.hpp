// Reads the members of one JSON object into typed values and notes the first thing that is wrong.
// After that every read gives nothing, so that a decoder is a plain list of reads with one check at
// its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/core/outcome.hpp"
#include "proto-ipc/limits.hpp"
#include "proto-ipc/strict_json.hpp"

namespace starlease::ipc {

/// The first refusal of a message, shared by the readers of its nested objects.
using Refusal = std::optional<core::Failure>;

/// What a string may be.
struct TextRule {
  std::size_t least_bytes = 1;
  std::size_t most_bytes = core::limits::id_bytes;
  /// Only [A-Za-z0-9._:-].
  bool id_alphabet = false;
};
inline constexpr TextRule id_rule{1, core::limits::id_bytes, true};
inline constexpr TextRule lease_id_rule{1, lease_id_bytes, false};
inline constexpr TextRule any_text{0, SIZE_MAX, false};

struct IntegerRule {
  std::int64_t least = INT64_MIN;
  std::int64_t most = INT64_MAX;
};
inline constexpr IntegerRule token_rule{1, core::limits::maximum_token};
inline constexpr IntegerRule any_integer{};

class Fields {
 public:
  /// `value` is an object; `prefix` is what stands before its members in `field`, as "identity.".
  Fields(JsonValue value, Refusal& refusal, std::string prefix = {})
      : object_(value), refusal_(&refusal), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool ok() const { return !*refusal_; }
  /// Notes what is wrong, unless something was before. `message` says what to send instead.
  void refuse(std::string_view name, std::string message);

  // Each gives nothing if the member is absent, or refuses it if it is of another type, null
  // included, or breaks the rule.
  [[nodiscard]] std::optional<JsonValue> value(std::string_view name);
  [[nodiscard]] std::optional<std::string> text(std::string_view name, const TextRule& rule);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, IntegerRule rule);
  [[nodiscard]] std::optional<bool> flag(std::string_view name);
  /// RFC 3339 text, as milliseconds since 1970.
  [[nodiscard]] std::optional<std::int64_t> time(std::string_view name);
  /// The position in `allowed`.
  [[nodiscard]] std::optional<std::size_t> choice(std::string_view name,
                                                  std::span<const std::string_view> allowed);
  [[nodiscard]] std::optional<Fields> object(std::string_view name);
  [[nodiscard]] std::optional<JsonValue> list(std::string_view name);

  /// What one of the above gave, or a refusal and `T()` where the member is absent.
  template <class T>
  [[nodiscard]] T required(std::string_view name, std::optional<T> given) {
    if (!given) refuse(name, "Add this field");
    return given ? std::move(*given) : T();
  }
  /// The same for what has no empty value.
  template <class T>
  [[nodiscard]] std::optional<T> present(std::string_view name, std::optional<T> given) {
    if (!given) refuse(name, "Add this field");
    return given;
  }

  [[nodiscard]] std::string need_text(std::string_view name, const TextRule& rule) {
    return required(name, text(name, rule));
  }
  [[nodiscard]] std::int64_t need_integer(std::string_view name, IntegerRule rule) {
    return required(name, integer(name, rule));
  }
  [[nodiscard]] std::int64_t need_time(std::string_view name) { return required(name, time(name)); }
  [[nodiscard]] std::size_t need_choice(std::string_view name,
                                        std::span<const std::string_view> allowed) {
    return required(name, choice(name, allowed));
  }

  /// Refuses the first member that was never read.
  void refuse_unknown();

 private:
  /// No object of ours has more members.
  static constexpr std::size_t most_names = 32;

  JsonValue object_;
  Refusal* refusal_;
  std::string prefix_;
  std::array<std::string_view, most_names> asked_{};
  std::size_t asked_count_ = 0;
};

}  // namespace starlease::ipc

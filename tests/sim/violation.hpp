// The first thing that went wrong in a world, if anything did.
#pragma once

#include <optional>
#include <string>

namespace starlease::sim {

/// As the exit status of the program tells it.
enum class Kind : int { none = 0, crash = 1, liveness = 2, safety = 3 };

struct Violation {
  Kind kind{};
  std::string checker;
  std::string what;
};

class Verdict {
 public:
  void violated(Kind kind, std::string checker, std::string what) {
    if (!first_) first_ = {kind, std::move(checker), std::move(what)};
  }
  [[nodiscard]] bool good() const { return !first_; }
  [[nodiscard]] const std::optional<Violation>& first() const { return first_; }

 private:
  std::optional<Violation> first_;
};

}  // namespace starlease::sim

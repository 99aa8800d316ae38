// A result as text, in terms that both sides share: epochs by their number, tokens by their
// distance from the floor that they stand on. The floors themselves differ by less than a
// millisecond.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/sides.hpp"

namespace starlease::conformance {

class Shower {
 public:
  /// Learns the epochs that a result names.
  [[nodiscard]] std::string show(const Result& result);

 private:
  [[nodiscard]] std::string token(core::FencingToken token) const;
  [[nodiscard]] std::string epoch(core::Epoch epoch);
  [[nodiscard]] std::string head(const store::Head& head);
  [[nodiscard]] std::string grant(const core::Grant& grant) const;

  std::vector<std::int64_t> epochs_;  // rising

  friend struct ShowVisitor;
};

}  // namespace starlease::conformance

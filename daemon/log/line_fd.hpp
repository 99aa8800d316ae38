// Writes lines to a descriptor that somebody else may be slow to read: never waits, drops and
// counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace starlease::log {

/// Longest line: what a pipe that can be written takes at once (PIPE_BUF), so that a line is never
/// torn.
inline constexpr std::size_t max_line_bytes = 4096;

class LineFd {
 public:
  /// Does not own the descriptor.
  explicit LineFd(int descriptor) : descriptor_(descriptor) {}

  /// Writes one line, its newline included. A longer one is cut. False if it was dropped.
  bool write(std::string_view line);
  /// Lines dropped since this was asked last.
  [[nodiscard]] std::uint64_t take_dropped();
  [[nodiscard]] bool any_dropped() const { return dropped_ != 0; }
  /// True if a line would be taken now.
  [[nodiscard]] bool writable() const;

 private:
  int descriptor_;
  std::uint64_t dropped_ = 0;
};

}  // namespace starlease::log

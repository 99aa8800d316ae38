// What the two processes of `starlease run` say to each other, over a pair of sockets that keep
// messages whole. The end of one process is the end of the stream for the other.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "lib/client/unique_fd.hpp"

namespace starlease::cli {

enum class KeeperWord : std::int32_t {
  /// Front to keeper: pass this signal on.
  signal,
  /// Keeper to front: the command runs in this process group.
  started,
  /// Keeper to front: the command was stopped by this signal.
  stopped,
};

struct KeeperMessage {
  KeeperWord word{};
  std::int32_t value = 0;
};

class KeeperLink {
 public:
  explicit KeeperLink(client::UniqueFd fd) : fd_(std::move(fd)) {}
  /// Both ends; nothing where the process has no descriptors left.
  static std::optional<std::pair<KeeperLink, KeeperLink>> make();

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Says it if the other end is there. Never blocks.
  void say(KeeperWord word, int value) const;

  enum class Heard : std::uint8_t { message, nothing, end };
  /// Takes the next message into `message`. Never blocks.
  Heard hear(KeeperMessage& message) const;

 private:
  client::UniqueFd fd_;
};

}  // namespace starlease::cli

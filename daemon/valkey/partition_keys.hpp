// Names of what lies in a partition: its gate, and the channel of its notices. lua/README.md,
// "Calling convention" and "Notices".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starlease::valkey {

class PartitionKeys {
 public:
  /// REQUIRES: check_store_config() accepts both.
  PartitionKeys(std::string name_space, std::uint32_t count);

  [[nodiscard]] const std::string& name_space() const { return name_space_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(tags_.size()); }
  /// The key of a partition's gate. REQUIRES: partition < count().
  [[nodiscard]] std::string gate(std::uint32_t partition) const {
    return tags_[partition] + "gate";
  }
  [[nodiscard]] std::string channel(std::uint32_t partition) const {
    return tags_[partition] + "notice";
  }
  /// The partition that a channel belongs to; nothing for any other name.
  [[nodiscard]] std::optional<std::uint32_t> partition_of_channel(std::string_view channel) const;

 private:
  std::string name_space_;
  /// "{starlease:<namespace>:<partition>}" of each.
  std::vector<std::string> tags_;
};

}  // namespace starlease::valkey

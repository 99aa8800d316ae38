// Key names; see the header.
#include "daemon/valkey/partition_keys.hpp"

#include <fmt/core.h>

#include <charconv>
#include <utility>

namespace starlease::valkey {

PartitionKeys::PartitionKeys(std::string name_space, std::uint32_t count)
    : name_space_(std::move(name_space)) {
  tags_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    tags_.push_back(fmt::format("{{starlease:{}:{}}}", name_space_, i));
  }
}

std::optional<std::uint32_t> PartitionKeys::partition_of_channel(std::string_view name) const {
  const std::string head = fmt::format("{{starlease:{}:", name_space_);
  if (!name.starts_with(head)) return std::nullopt;
  std::uint32_t partition = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + head.size(), end, partition);
  if (read.ec != std::errc() || partition >= tags_.size()) return std::nullopt;
  // Also refuses leading zeros and anything after the name.
  return name == channel(partition) ? std::optional(partition) : std::nullopt;
}

}  // namespace starlease::valkey

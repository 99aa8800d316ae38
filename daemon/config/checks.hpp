// Collects what is wrong while a configuration is checked; shared by the files of this folder.
#pragma once

#include <string>
#include <string_view>

#include "daemon/config/config.hpp"

namespace starlease::config {

class Checks {
 public:
  explicit Checks(const Config& config) : config_(config) {}

  /// Notes a problem with `key` unless `holds`; told with the place where the key was set.
  void require(bool holds, std::string_view key, std::string message) {
    if (!holds) fail(key, std::move(message));
  }
  void fail(std::string_view key, std::string message) {
    problems_.push_back({place(key), std::string(key) + " " + std::move(message)});
  }
  /// Notes a problem at a place of its own.
  void fail_at(const Origin& origin, std::string message) {
    problems_.push_back({origin.place, std::move(message)});
  }

  [[nodiscard]] bool ok() const { return problems_.empty(); }
  [[nodiscard]] Problems take() && { return std::move(problems_); }

 private:
  [[nodiscard]] std::string place(std::string_view key) const {
    const auto found = config_.origins.find(key);
    return found == config_.origins.end() ? "default" : found->second.place;
  }

  const Config& config_;
  Problems problems_;
};

}  // namespace starlease::config

// The state directory: service::LocalState on disk. Small files, replaced whole and synced; locked,
// so that two daemons never share one. What cannot be read counts as absent and is said; nothing in
// here decides a grant, it only lets this daemon notice that the backend has gone back.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/uv/owned_fd.hpp"
#include "lib/base/log.hpp"
#include "lib/base/random.hpp"
#include "lib/base/result.hpp"
#include "lib/service/local_state.hpp"

namespace starlease {

enum class StateDirError : std::uint8_t {
  in_use,  ///< another daemon has it
  io,      ///< it cannot be made, read or written
};

struct StateDirFailure {
  StateDirError error{};
  std::string message;
};

class StateDir final : public service::LocalState {
 public:
  /// Makes the directory (0700) if it is missing, takes its lock, and makes the resume key if there
  /// is none. `log` must outlive this.
  [[nodiscard]] static base::Result<std::unique_ptr<StateDir>, StateDirFailure> open(
      const std::string& path, base::Random& random, base::Log& log);
  [[nodiscard]] const base::MacKey& resume_key() const override { return resume_key_; }
  [[nodiscard]] std::map<std::uint32_t, service::PartitionMemory> load() const override;
  [[nodiscard]] bool save(const std::map<std::uint32_t, service::PartitionMemory>& memory) override;

 private:
  StateDir(uv::OwnedFd directory, base::Log& log) : directory_(std::move(directory)), log_(log) {}
  [[nodiscard]] std::string read(const char* name) const;
  /// An error number, or 0.
  [[nodiscard]] int replace(const char* name, std::string_view bytes);
  [[nodiscard]] int load_key(base::Random& random);

  uv::OwnedFd directory_;
  uv::OwnedFd lock_;
  base::Log& log_;
  base::MacKey resume_key_{};
};

/// The file's text for a memory, and back; nothing if a byte of it is not as it was written.
[[nodiscard]] std::string encode_memory(
    const std::map<std::uint32_t, service::PartitionMemory>& memory);
[[nodiscard]] std::optional<std::map<std::uint32_t, service::PartitionMemory>> decode_memory(
    std::string_view text);

}  // namespace starlease

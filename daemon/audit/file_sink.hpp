// Audit events appended to a file, put aside by size. Owned by main(). A file that cannot be
// written costs events, which are counted and told, never a request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/log.hpp"
#include "lib/base/result.hpp"
#include "lib/service/audit.hpp"

namespace starlease::audit {

struct FileSettings {
  std::string path;
  /// The file is renamed to PATH.1 before it would grow past this; PATH.1 to PATH.2 and so on.
  std::int64_t rotate_bytes = 0;
  int rotate_count = 1;
};

class FileSink final : public service::AuditSink {
 public:
  /// Opens or makes the file (0600). The error is a sentence. `log` must outlive the sink.
  [[nodiscard]] static base::Result<std::unique_ptr<FileSink>, std::string> open(
      FileSettings settings, base::Log& log);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void record(const core::AuditEvent& event) override;

 private:
  FileSink(FileSettings settings, base::Log& log) : settings_(std::move(settings)), log_(log) {}
  /// An error number, or 0.
  int reopen();
  int rotate();
  int append(const std::string& line);
  void failed(int error);

  FileSettings settings_;
  base::Log& log_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  /// The last write stopped within a line; the next one begins on a new one.
  bool torn_ = false;
  std::int64_t lost_ = 0;
};

}  // namespace starlease::audit

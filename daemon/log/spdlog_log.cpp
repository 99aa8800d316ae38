// spdlog behind the Log seam; the only file that includes it.
#include "daemon/log/spdlog_log.hpp"

#include <map>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "daemon/log/fields.hpp"
#include "daemon/log/line_fd.hpp"
#include "lib/base/assert.hpp"

namespace starlease::log {
namespace {

spdlog::level::level_enum spdlog_level(base::LogLevel level) {
  switch (level) {
    case base::LogLevel::debug:
      return spdlog::level::debug;
    case base::LogLevel::info:
      return spdlog::level::info;
    case base::LogLevel::warning:
      return spdlog::level::warn;
    case base::LogLevel::error:
      return spdlog::level::err;
  }
  SL_UNREACHABLE();
}

/// The prefix by which the journal's stream protocol learns the priority of a line.
std::string_view journal_prefix(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return "<3>";
  if (level == spdlog::level::warn) return "<4>";
  return level == spdlog::level::info ? "<6>" : "<7>";
}

/// One thread logs, so no mutex is needed.
class LineSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  LineSink(int descriptor, bool journal) : out_(descriptor), journal_(journal) {}
  LineFd& out() { return out_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    if (journal_) {
      const auto prefix = journal_prefix(message.level);
      line.append(prefix.data(), prefix.data() + prefix.size());
    }
    formatter_->format(message, line);
    out_.write({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  LineFd out_;
  bool journal_;
};

/// The journal has its own time stamps and levels.
const char* pattern(Format format, bool journal) {
  if (format == Format::json) {
    return journal ? "{%v}" : R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
  }
  return journal ? "%v" : "ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v";
}

/// Counts the lines of one event in the current second.
struct Bucket {
  std::int64_t second = -1;
  std::uint32_t lines = 0;
  std::int64_t suppressed = 0;
};

}  // namespace

class SpdlogLog::Impl {
 public:
  Impl(const Options& options, const base::Clock& clock)
      : clock_(clock), format_(options.format), journal_(open_journal(options)) {
    sink_ =
        std::make_shared<LineSink>(journal_ >= 0 ? journal_ : options.descriptor, journal_ >= 0);
    sink_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        pattern(format_, journal_ >= 0), spdlog::pattern_time_type::utc));
    logger_ = std::make_unique<spdlog::logger>("starleased", sink_);
    logger_->set_level(spdlog_level(options.level));
    // spdlog would write to standard error, and could wait there.
    logger_->set_error_handler([](const std::string&) {});
  }
  ~Impl() {
    if (journal_ >= 0) ::close(journal_);
  }

  [[nodiscard]] bool has_journal() const { return journal_ >= 0; }

  void write(base::LogLevel level, std::string_view event,
             std::initializer_list<base::LogField> fields) {
    if (!logger_->should_log(spdlog_level(level))) return;
    if (level != base::LogLevel::debug && !admitted(event)) return;
    if (sink_->out().any_dropped() && sink_->out().writable()) {
      emit(base::LogLevel::warning, "log lines dropped", {{"count", sink_->out().take_dropped()}});
    }
    emit(level, event, fields);
  }

 private:
  static int open_journal(const Options& options) {
    if (options.target != Target::journald) return -1;
    return ::sd_journal_stream_fd("starleased", LOG_INFO, 1);
  }

  void emit(base::LogLevel level, std::string_view event,
            std::initializer_list<base::LogField> fields) {
    const std::string text =
        format_ == Format::json ? as_json(event, fields) : as_text(event, fields);
    logger_->log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
  }

  /// Bounds a flood of one event. Events are fixed sentences, so the table is as small as the
  /// source.
  bool admitted(std::string_view event) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_.boot_now().time_since_epoch());
    auto found = buckets_.find(event);
    if (found == buckets_.end()) found = buckets_.emplace(std::string(event), Bucket{}).first;
    Bucket& bucket = found->second;
    if (bucket.second != now.count()) {
      const std::int64_t suppressed = bucket.suppressed;
      bucket = {now.count(), 0, 0};
      if (suppressed > 0) {
        emit(base::LogLevel::warning, "log lines suppressed",
             {{"of", event}, {"count", suppressed}});
      }
    }
    if (++bucket.lines <= lines_per_event_and_second) return true;
    ++bucket.suppressed;
    return false;
  }

  const base::Clock& clock_;
  Format format_;
  int journal_;
  std::shared_ptr<LineSink> sink_;
  std::unique_ptr<spdlog::logger> logger_;
  std::map<std::string, Bucket, std::less<>> buckets_;
};

SpdlogLog::SpdlogLog(const Options& options, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(options, clock)) {
  if (options.target == Target::journald && !impl_->has_journal()) {
    warning("no journal here; logging to standard error");
  }
}

SpdlogLog::~SpdlogLog() = default;

void SpdlogLog::write(base::LogLevel level, std::string_view event,
                      std::initializer_list<base::LogField> fields) {
  impl_->write(level, event, fields);
}

}  // namespace starlease::log

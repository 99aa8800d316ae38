// Lets a function find out that its own object was destroyed by something that it called: callers'
// completions may do that. Stack objects only.
#pragma once

namespace starlease::valkey {

/// A member of the object in question.
class Lifeline {
 public:
  class Probe;
  Lifeline() = default;
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

 private:
  Probe* newest_ = nullptr;
};

/// A local variable of the function that wants to know.
class Lifeline::Probe {
 public:
  explicit Probe(Lifeline& line) : line_(&line), older_(line.newest_) { line.newest_ = this; }
  ~Probe() {
    if (line_ != nullptr) line_->newest_ = older_;
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// True once the object is gone: touch no member of it any more.
  [[nodiscard]] bool gone() const { return line_ == nullptr; }

 private:
  friend class Lifeline;
  Lifeline* line_;
  Probe* older_;
};

inline Lifeline::~Lifeline() {
  for (Probe* probe = newest_; probe != nullptr; probe = probe->older_) probe->line_ = nullptr;
}

}  // namespace starlease::valkey

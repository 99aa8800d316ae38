// Strict views over the server's replies (RESP3). A missing element, a null or another shape than
// the one asked for is a Fault, never an empty value. Views are valid only as long as the reply is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/valkey/fault.hpp"
#include "lib/base/result.hpp"

struct redisReply;

namespace starlease::valkey {

/// The text of an error reply, or nothing for any other reply.
[[nodiscard]] std::optional<std::string_view> error_text(const redisReply& reply);
/// A string (bulk, simple or verbatim).
[[nodiscard]] std::optional<std::string_view> text_of(const redisReply& reply);
[[nodiscard]] std::optional<std::int64_t> integer_of(const redisReply& reply);
/// The value of a text key in a map, or in an array of alternating keys and values. Null if absent.
[[nodiscard]] const redisReply* find(const redisReply& map, std::string_view key);

/// Reads an array's elements one after the other. The first one that does not fit makes the reader
/// bad: everything read from then on is empty or zero, and finish() tells what was wrong. So a
/// decoder reads straight through and asks once.
class ReplyReader {
 public:
  /// `what` names the reply in the fault; it outlives the reader.
  ReplyReader(const redisReply& reply, std::string_view what);

  [[nodiscard]] std::string_view text();
  [[nodiscard]] std::int64_t integer();
  /// An integer not below zero.
  [[nodiscard]] std::int64_t natural();
  /// The next element as an array of its own.
  [[nodiscard]] ReplyReader array();
  /// Elements not read yet.
  [[nodiscard]] std::size_t left() const { return count_ - next_; }
  /// Marks the reply as unfit for a reason of the caller's.
  void reject(std::string_view why);
  [[nodiscard]] bool good() const { return wrong_.empty(); }
  /// The fault found on the way; also if elements are left over.
  [[nodiscard]] base::Result<void, Fault> finish() const;

 private:
  [[nodiscard]] const redisReply* next();

  const redisReply* const* elements_ = nullptr;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  std::string_view what_;
  std::string wrong_;
};

}  // namespace starlease::valkey

// Views over redisReply; see the header.
#include "daemon/valkey/reply.hpp"

#include <fmt/core.h>
#include <hiredis/hiredis.h>

namespace starlease::valkey {

std::optional<std::string_view> error_text(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ERROR) return std::nullopt;
  return std::string_view(reply.str, reply.len);
}

std::optional<std::string_view> text_of(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_STRING && reply.type != REDIS_REPLY_STATUS &&
      reply.type != REDIS_REPLY_VERB) {
    return std::nullopt;
  }
  return std::string_view(reply.str, reply.len);
}

std::optional<std::int64_t> integer_of(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER) return std::nullopt;
  return reply.integer;
}

const redisReply* find(const redisReply& map, std::string_view key) {
  if (map.type != REDIS_REPLY_MAP && map.type != REDIS_REPLY_ARRAY) return nullptr;
  for (std::size_t i = 0; i + 1 < map.elements; i += 2) {
    if (text_of(*map.element[i]) == key) return map.element[i + 1];
  }
  return nullptr;
}

ReplyReader::ReplyReader(const redisReply& reply, std::string_view what) : what_(what) {
  if (reply.type == REDIS_REPLY_ARRAY) {
    elements_ = reply.element;
    count_ = reply.elements;
  } else {
    reject("not an array");
  }
}

void ReplyReader::reject(std::string_view why) {
  if (good()) wrong_ = fmt::format("the reply to {} is not as agreed: {}", what_, why);
}

const redisReply* ReplyReader::next() {
  if (!good()) return nullptr;
  if (next_ == count_) {
    reject("too short");
    return nullptr;
  }
  return elements_[next_++];
}

std::string_view ReplyReader::text() {
  const redisReply* element = next();
  if (element == nullptr) return {};
  if (const auto text = text_of(*element)) return *text;
  reject(fmt::format("element {} is not text", next_));
  return {};
}

std::int64_t ReplyReader::integer() {
  const redisReply* element = next();
  if (element == nullptr) return 0;
  if (const auto number = integer_of(*element)) return *number;
  reject(fmt::format("element {} is not an integer", next_));
  return 0;
}

std::int64_t ReplyReader::natural() {
  const std::int64_t number = integer();
  if (number >= 0) return number;
  reject(fmt::format("element {} is negative", next_));
  return 0;
}

ReplyReader ReplyReader::array() {
  static const redisReply nothing{};
  const redisReply* element = next();
  ReplyReader inner(element == nullptr ? nothing : *element, what_);
  if (!inner.good()) reject(fmt::format("element {} is not an array", next_));
  return inner;
}

base::Result<void, Fault> ReplyReader::finish() const {
  if (!good()) return base::failed(Fault{wrong_, "check which function library the server has"});
  if (next_ != count_) {
    return base::failed(Fault{fmt::format("the reply to {} is too long", what_),
                              "check which function library the server has"});
  }
  return {};
}

}  // namespace starlease::valkey

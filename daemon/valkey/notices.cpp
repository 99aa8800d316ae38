// Subscription to notices; see the header.
#include "daemon/valkey/notices.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "daemon/valkey/command.hpp"
#include "daemon/valkey/reply.hpp"
#include "lib/core/limits.hpp"

namespace starlease::valkey {
namespace {

using store::NoticeKind;

constexpr std::array<std::pair<std::string_view, NoticeKind>, 4> lease_kinds = {{
    {"released", NoticeKind::released},
    {"expired", NoticeKind::expired},
    {"force_released", NoticeKind::force_released},
    {"revoked", NoticeKind::revoked},
}};

bool printable_id(std::string_view id) {
  return !id.empty() && id.size() <= core::limits::id_bytes &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

bool number(std::string_view text) {
  constexpr std::size_t most_digits = 16;  // below 2^53
  return !text.empty() && text.size() <= most_digits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<store::Notice> parse_notice(std::string_view payload, std::uint32_t partition) {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view kind = payload.substr(0, space);
  payload.remove_prefix(space + 1);
  store::Notice notice;
  notice.partition = partition;
  if (kind == "recovered") {
    notice.kind = NoticeKind::recovered;
    return number(payload) ? std::optional(notice) : std::nullopt;
  }
  const auto* known =
      std::ranges::find(lease_kinds, kind, &decltype(lease_kinds)::value_type::first);
  constexpr std::size_t digest_bytes = sizeof(notice.digest.bytes);
  if (known == lease_kinds.end() || payload.size() <= digest_bytes + 1) return std::nullopt;
  const std::string_view digest = payload.substr(payload.size() - digest_bytes);
  payload.remove_suffix(digest_bytes);
  if (payload.back() != ' ') return std::nullopt;
  payload.remove_suffix(1);
  if (!printable_id(payload)) return std::nullopt;
  notice.kind = known->second;
  notice.lease_id = core::LeaseId(payload);
  std::memcpy(notice.digest.bytes.data(), digest.data(), digest_bytes);
  return notice;
}

Notices::Notices(const LinkSeams& seams, const Endpoint& endpoint, const PartitionKeys& keys)
    : log_(seams.log), keys_(keys), link_(seams, endpoint, "starleased-notices", *this) {}

void Notices::start(store::StoreListener& listener) {
  listener_ = &listener;
  link_.start();
}

void Notices::on_link_up(const redisReply&) {
  Command subscribe("SUBSCRIBE", 64UL * keys_.count());
  for (std::uint32_t i = 0; i < keys_.count(); ++i) subscribe.arg(keys_.channel(i));
  static_cast<void>(link_.subscribe(std::move(subscribe).finish()));
}

void Notices::on_push(const redisReply& push) {
  if (push.type != REDIS_REPLY_PUSH || push.elements != 3) return;
  if (text_of(*push.element[0]) != "message") return;  // confirmations of the subscription
  const auto channel = text_of(*push.element[1]);
  const auto payload = text_of(*push.element[2]);
  const auto partition = channel ? keys_.partition_of_channel(*channel) : std::nullopt;
  const auto notice = partition && payload ? parse_notice(*payload, *partition) : std::nullopt;
  if (!notice) return log_.debug("a notice that nobody understands was dropped");
  listener_->on_notice(*notice);
}

}  // namespace starlease::valkey

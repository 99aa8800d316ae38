// The daemon's sessions; see the header.
#include "lib/service/session_table.hpp"

#include "lib/base/assert.hpp"
#include "lib/base/base64url.hpp"
#include "lib/core/canonical.hpp"

namespace starlease::service {

Session* SessionTable::open(const core::Owner& owner, const core::Principal& principal) {
  SL_ASSERT(!by_instance_.contains(owner.instance));
  if (sessions_.size() >= capacity_) return nullptr;
  auto session = std::make_unique<Session>();
  session->id = static_cast<SessionId>(++last_id_);
  session->owner = owner;
  session->principal = &principal;
  Session* opened = session.get();
  by_instance_.emplace(owner.instance, opened);
  sessions_.emplace(opened->id, std::move(session));
  return opened;
}

Session* SessionTable::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

Session* SessionTable::find(const core::ServiceInstanceId& instance) {
  const auto found = by_instance_.find(instance);
  return found == by_instance_.end() ? nullptr : found->second;
}

void SessionTable::erase(SessionId id) {
  const auto found = sessions_.find(id);
  SL_ASSERT(found != sessions_.end() && found->second->lease_count == 0);
  by_instance_.erase(found->second->owner.instance);
  sessions_.erase(found);
}

std::string SessionTable::resume_token(const core::Owner& owner) const {
  core::CanonicalObject bound;
  bound.add("instance", owner.instance.value)
      .add("principal", owner.principal.value)
      .add("client", owner.client.value)
      .add("credential", owner.credential.value);
  return base::base64url_encode(base::keyed_mac(resume_key_, std::move(bound).finish()));
}

bool SessionTable::resume_token_fits(const core::Owner& owner, std::string_view token) const {
  const std::string expected = resume_token(owner);
  return base::equal_constant_time(std::as_bytes(std::span(expected)),
                                   std::as_bytes(std::span(token)));
}

}  // namespace starlease::service

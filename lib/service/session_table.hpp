// All sessions of the daemon, by id and by service instance, and the tokens that resume them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "lib/base/crypto.hpp"
#include "lib/service/session.hpp"

namespace starlease::service {

class SessionTable {
 public:
  /// `resume_key` must outlive the table.
  SessionTable(const base::MacKey& resume_key, std::size_t capacity)
      : resume_key_(resume_key), capacity_(capacity) {}

  /// Opens a session for a new or a resumed instance; null when the daemon carries no more.
  /// REQUIRES: no session of that instance exists.
  [[nodiscard]] Session* open(const core::Owner& owner, const core::Principal& principal);
  [[nodiscard]] Session* find(SessionId id);
  [[nodiscard]] Session* find(const core::ServiceInstanceId& instance);
  /// REQUIRES: it holds nothing.
  void erase(SessionId id);

  /// An opaque token bound to all of the owner's parts.
  [[nodiscard]] std::string resume_token(const core::Owner& owner) const;
  [[nodiscard]] bool resume_token_fits(const core::Owner& owner, std::string_view token) const;

  [[nodiscard]] std::size_t size() const { return sessions_.size(); }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (auto& [id, session] : sessions_) visit(*session);
  }

 private:
  const base::MacKey& resume_key_;
  std::size_t capacity_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<SessionId, std::unique_ptr<Session>> sessions_;
  std::unordered_map<core::ServiceInstanceId, Session*> by_instance_;
};

}  // namespace starlease::service

// Name resolution on libuv's pool; see the header.
#include "daemon/valkey/resolver.hpp"

#include <netdb.h>
#include <uv.h>

#include <array>
#include <memory>

#include "lib/base/assert.hpp"

namespace starlease::valkey {
namespace {

/// More addresses than this are not tried; the next attempt asks again.
constexpr std::size_t max_addresses = 8;

Resolver::Addresses numeric(const addrinfo* list) {
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr && addresses.size() < max_addresses;
       entry = entry->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  if (addresses.empty()) return base::failed(std::string("the name has no address"));
  return addresses;
}

}  // namespace

/// Lives until libuv calls back, which it does even when the question was cancelled.
struct Resolver::Question {
  uv_getaddrinfo_t request{};
  Resolver* asker = nullptr;
  Resolved done;

  static void on_answer(uv_getaddrinfo_t* request, int status, addrinfo* list);
};

void Resolver::Question::on_answer(uv_getaddrinfo_t* request, int status, addrinfo* list) {
  const std::unique_ptr<Question> self(static_cast<Question*>(request->data));
  uv::Loop::of(request->loop).enter([&] {
    if (self->asker == nullptr) return;  // cancelled, perhaps only just now by the turn function
    self->asker->question_ = nullptr;
    self->done(status == 0 ? numeric(list) : base::failed(std::string(uv_strerror(status))));
  });
  uv_freeaddrinfo(list);
}

bool Resolver::resolve(const std::string& host, Resolved done) {
  SL_ASSERT(question_ == nullptr);
  auto question = std::make_unique<Question>();
  question->asker = this;
  question->done = std::move(done);
  question->request.data = question.get();
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (uv_getaddrinfo(loop_.raw(), &question->request, Question::on_answer, host.c_str(), nullptr,
                     &hints) != 0) {
    return false;
  }
  question_ = question.release();
  return true;
}

void Resolver::cancel() {
  if (question_ == nullptr) return;
  question_->asker = nullptr;
  uv_cancel(reinterpret_cast<uv_req_t*>(&question_->request));
  question_ = nullptr;
}

}  // namespace starlease::valkey

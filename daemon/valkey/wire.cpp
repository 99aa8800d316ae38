// hiredis' asynchronous context behind Wire; see the header.
//
// Lifetime: Core belongs to the context (its dataCleanup frees it) and points at the Wire, which
// points back. Whoever goes first clears the other's pointer. hiredis defers freeing a context
// until the callback in which it was asked for has returned, so a Wire may be destroyed anywhere.
#include "daemon/valkey/wire.hpp"

#include <fmt/core.h>
#include <hiredis/async.h>
#include <hiredis/hiredis_ssl.h>

#include <cstring>

#include "daemon/valkey/server_errors.hpp"
#include "daemon/valkey/socket_watch.hpp"
#include "daemon/valkey/wiping_allocator.hpp"
#include "lib/base/assert.hpp"

// 1.1.0 gave two options one value, and then never told of a disconnect.
static_assert(HIREDIS_MAJOR > 1 || (HIREDIS_MAJOR == 1 && HIREDIS_MINOR >= 2));

namespace starlease::valkey {

struct Wire::Core {
  /// Null once the wire is gone: then nobody is told anything.
  Wire* wire = nullptr;
  WireListener* listener = nullptr;
  redisAsyncContext* context = nullptr;
  SocketWatch* watch = nullptr;
  const TlsContext* tls = nullptr;
  TlsSession session;
  bool connected = false;
  bool greeted = false;
  Fault why;

  [[nodiscard]] bool alive() const { return wire != nullptr; }
  [[nodiscard]] Fault explain() const;
  void begin_tls();

  static Core* of(const redisAsyncContext* context) { return static_cast<Core*>(context->data); }
  static void on_connect(redisAsyncContext* context, int status);
  static void on_disconnect(const redisAsyncContext* context, int status);
  static void on_reply(redisAsyncContext* context, void* reply, void* id);
  static void on_push(redisAsyncContext* context, void* reply, void*);
  static void on_cleanup(void* self);
};

namespace {

Fault no_socket(std::string_view why) {
  return {fmt::format("cannot connect: {}", why), "check address, permissions and open-file limit"};
}

/// The end of a connection in hiredis' words, made into ours.
Fault explain_plain(const redisAsyncContext& context) {
  const std::string_view text = context.errstr == nullptr ? "" : context.errstr;
  if (context.err == REDIS_ERR_EOF) return {"the server closed the connection", ""};
  if (context.err == REDIS_ERR_PROTOCOL) {
    return {fmt::format("what answers does not speak the server's protocol: {}", text),
            "check the port, and whether it wants TLS"};
  }
  if (context.err == REDIS_ERR_OTHER && !text.empty()) {  // the server's last word, unasked
    return {fmt::format("the server ended the connection: {}", printable(text)),
            std::string(classify(text).remedy)};
  }
  return {fmt::format("the connection broke: {}", text.empty() ? "no reason given" : text), ""};
}

}  // namespace

Fault Wire::Core::explain() const {
  if (!why.what.empty()) return why;
  if (!connected) {
    return no_socket(context->errstr == nullptr ? "no reason given" : context->errstr);
  }
  if (session && !greeted && (!handshake_done(session) || tls_failed())) {
    return explain_tls(session, tls->server_name());
  }
  Fault fault = explain_plain(*context);
  // A server that wants a certificate of ours lets the handshake end first, and then hangs up.
  if (session && !greeted) {
    fault.remedy = "if the server demands a client certificate, set tls.cert_file and tls.key_file";
  }
  return fault;
}

void Wire::Core::begin_tls() {
  session = tls->session();
  TlsSession theirs = share(session);
  if (!theirs) {
    why = {"TLS cannot be set up: out of memory, or no valid server name", ""};
    return redisAsyncFree(context);
  }
  if (redisInitiateSSL(&context->c, theirs.get()) != REDIS_OK) {
    why = explain_tls(session, tls->server_name());
    return redisAsyncFree(context);
  }
  [[maybe_unused]] const auto* const given = theirs.release();  // freed with the context
}

void Wire::Core::on_connect(redisAsyncContext* context, int status) {
  Core* core = of(context);
  if (status != REDIS_OK || !core->alive()) return;
  core->connected = true;
  if (core->tls != nullptr) core->begin_tls();
  if (core->why.what.empty()) core->listener->on_connected();
}

void Wire::Core::on_disconnect(const redisAsyncContext* context, int) {
  Core* core = of(context);
  if (core->why.what.empty()) core->why = core->explain();
}

void Wire::Core::on_reply(redisAsyncContext* context, void* reply, void* id) {
  Core* core = of(context);
  // Without a reply the connection is ending, and on_closed() will say so once for all.
  if (reply == nullptr || !core->alive()) return;
  core->listener->on_reply(reinterpret_cast<std::uintptr_t>(id),
                           *static_cast<const redisReply*>(reply));
}

void Wire::Core::on_push(redisAsyncContext* context, void* reply, void*) {
  Core* core = of(context);
  if (reply == nullptr || !core->alive()) return;
  core->listener->on_push(*static_cast<const redisReply*>(reply));
}

void Wire::Core::on_cleanup(void* self) {
  const std::unique_ptr<Core> core(static_cast<Core*>(self));
  if (!core->alive()) return;
  core->wire->core_ = nullptr;
  core->listener->on_closed(core->explain());
}

base::Result<std::unique_ptr<Wire>, Fault> Wire::open(uv::Loop& loop, const Address& address,
                                                      const TlsContext* tls,
                                                      WireListener& listener) {
  install_wiping_allocator();
  redisOptions options{};
  if (address.unix_path.empty()) {
    REDIS_OPTIONS_SET_TCP(&options, address.address.c_str(), address.port);
  } else {
    REDIS_OPTIONS_SET_UNIX(&options, address.unix_path.c_str());
  }
  redisAsyncContext* context = redisAsyncConnectWithOptions(&options);
  if (context == nullptr) return base::failed(no_socket("out of memory"));
  if (context->err != 0) {
    Fault fault = no_socket(context->errstr);
    redisAsyncFree(context);
    return base::failed(std::move(fault));
  }
  context->c.reader->maxelements = max_reply_elements;
  SocketWatch* watch = SocketWatch::attach(loop, *context);
  if (watch == nullptr) {
    redisAsyncFree(context);
    return base::failed(no_socket("the event loop took no further descriptor"));
  }
  auto core = std::make_unique<Core>();
  std::unique_ptr<Wire> wire(new Wire(core.get()));
  core->wire = wire.get();
  core->listener = &listener;
  core->context = context;
  core->watch = watch;
  core->tls = tls;
  context->data = core.release();
  context->dataCleanup = Core::on_cleanup;
  redisAsyncSetDisconnectCallback(context, Core::on_disconnect);
  redisAsyncSetConnectCallbackNC(context, Core::on_connect);
  return wire;
}

Wire::~Wire() {
  if (core_ == nullptr) return;
  core_->wire = nullptr;
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete): frees Core through on_cleanup
  const WipeScope wipe(core_->watch->secrets());
  redisAsyncFree(core_->context);
}

bool Wire::send(std::string_view command, std::uint64_t id) {
  static_assert(sizeof(void*) >= sizeof id);
  if (core_ == nullptr) return false;
  SL_ASSERT(core_->connected);
  const WipeScope wipe(core_->watch->secrets());
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the number is hiredis' private data, never followed
  void* data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));
  return redisAsyncFormattedCommand(core_->context, Core::on_reply, data, command.data(),
                                    command.size()) == REDIS_OK;
}

bool Wire::subscribe(std::string_view command) {
  if (core_ == nullptr) return false;
  SL_ASSERT(core_->connected);
  return redisAsyncFormattedCommand(core_->context, Core::on_push, nullptr, command.data(),
                                    command.size()) == REDIS_OK;
}

void Wire::greeted() {
  if (core_ == nullptr) return;
  core_->greeted = true;
  core_->watch->secrets_are_gone();
}

std::string Wire::stage() const {
  if (core_ == nullptr || !core_->connected) return "connect";
  if (core_->session && !handshake_done(core_->session)) return "the TLS handshake";
  return "HELLO";
}

}  // namespace starlease::valkey

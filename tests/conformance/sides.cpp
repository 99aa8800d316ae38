// Asking each side; see the header.
#include "tests/conformance/sides.hpp"

#include <cstdio>
#include <cstdlib>

#include "daemon/valkey/decode.hpp"
#include "daemon/valkey/encode.hpp"

namespace starlease::conformance {
namespace {

/// Place of the unclamped time in a reply that carries the gate block, in microseconds.
constexpr std::size_t time_us_index = 20;

template <class Decoded>
auto take(Decoded decoded) {
  if (decoded) return std::move(decoded->result);
  std::fprintf(stderr, "conformance: %s\n", decoded.error().what.c_str());
  std::exit(70);
}

}  // namespace

std::int64_t ValkeySide::server_ms() {
  const Reply reply = server_.ask({"TIME"});
  const std::int64_t seconds = std::strtoll(reply->element[0]->str, nullptr, 10);
  return seconds * 1000 + std::strtoll(reply->element[1]->str, nullptr, 10) / 1000;
}

std::string ValkeySide::observed() {
  const Reply reply = server_.send(valkey::encode_gate_read(keys_.gate(0)));
  return take(valkey::decode_gate_read(*reply, 0)).gate.observed;
}

void ValkeySide::corrupt(const core::LockDigest& digest) {
  std::string key = keys_.gate(0);
  key.replace(key.size() - 4, 4, "lease:");
  key.append(digest.chars());
  server_.ask({"SET", key, "garbage"});
}

Result ValkeySide::perform(const Command& command) {
  const std::string gate = keys_.gate(0);
  const auto ask = [this](const std::string& call) {
    Reply reply = server_.send(call);
    const bool told = reply->type == REDIS_REPLY_ARRAY && reply->elements > time_us_index &&
                      std::string_view(reply->element[0]->str) == "recovering";
    if (told) {
      now_ms_ = reply->element[time_us_index]->integer / 1000;
    } else if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 1) {
      now_ms_ = reply->element[1]->integer;
    }
    return reply;
  };
  struct Visitor {
    ValkeySide& side;
    const std::string& gate;
    decltype(ask)& call;
    Result operator()(const store::AcquireCommand& c) const {
      return take(valkey::decode_acquire(*call(valkey::encode_acquire(gate, c, 0))));
    }
    Result operator()(const TimedRenewals& c) const {
      return take(
          valkey::decode_renew_timed(*call(valkey::encode_renew_timed(gate, c, 0)), c.size()));
    }
    Result operator()(const store::RenewCommand& c) const {
      return take(valkey::decode_renew(*call(valkey::encode_renew(gate, c, 0))));
    }
    Result operator()(const store::ReleaseCommand& c) const {
      return take(valkey::decode_release(*call(valkey::encode_release(gate, c, 0))));
    }
    Result operator()(const store::InspectCommand& c) const {
      return take(valkey::decode_inspect(*call(valkey::encode_inspect(gate, c))));
    }
    Result operator()(const store::ResolveCommand& c) const {
      return take(valkey::decode_resolve(*call(valkey::encode_resolve(gate, c)), c.operation));
    }
    Result operator()(const ReadGate&) const {
      return take(valkey::decode_gate_read(*call(valkey::encode_gate_read(gate)), 0));
    }
    Result operator()(const store::SweepCommand& c) const {
      return take(valkey::decode_sweep(*call(valkey::encode_sweep(gate, c))));
    }
    Result operator()(const store::CommitCommand& c) const {
      return take(valkey::decode_commit(*call(valkey::encode_commit(gate, c, 0))));
    }
    Result operator()(const store::InvalidateCommand& c) const {
      return take(valkey::decode_invalidate(*call(valkey::encode_invalidate(gate, c, 0))));
    }
    Result operator()(const store::DocumentCommand& c) const {
      store::DocumentResult read =
          take(valkey::decode_document(*call(valkey::encode_document(gate, c))));
      read.document.content.name = c.name;
      return read;
    }
    Result operator()(const store::ListCommand& c) const {
      return take(valkey::decode_list(*call(valkey::encode_list(gate, c)), c.filter.by));
    }
    Result operator()(const History& c) const {
      store::HistoryCommand own = c.command;
      if (c.go_on) own.before = side.reached_;
      auto result = take(valkey::decode_history(*call(valkey::encode_history(gate, own))));
      side.reached_ = result.reached;
      return result;
    }
    Result operator()(const store::InitGateCommand& c) const {
      return take(
          valkey::decode_gate_init(*call(valkey::encode_gate_init(gate, side.keys_, c)), 0));
    }
    Result operator()(const Recover& c) const {
      store::RecoverCommand own = c.command;
      if (own.observed.empty()) own.observed = side.observed();
      const std::int64_t wall = side.server_ms() + c.wall_difference.count();
      return take(
          valkey::decode_recover(*call(valkey::encode_recover(gate, side.keys_, own, wall)), 0));
    }
  };
  return std::visit(Visitor{*this, gate, ask}, command);
}

Result ModelSide::perform(const Command& command, std::int64_t now_ms) {
  now_ms_ = now_ms;
  struct Visitor {
    ModelSide& side;
    std::int64_t now_ms;
    store::MemoryBackend& backend;
    Result operator()(const store::AcquireCommand& c) const { return backend.acquire(c); }
    Result operator()(const TimedRenewals& c) const { return backend.renew_timed(c); }
    Result operator()(const store::RenewCommand& c) const { return backend.renew(c); }
    Result operator()(const store::ReleaseCommand& c) const { return backend.release(c); }
    Result operator()(const store::InspectCommand& c) const { return backend.inspect(c); }
    Result operator()(const store::ResolveCommand& c) const { return backend.resolve(c); }
    Result operator()(const ReadGate&) const { return backend.read_gate(0); }
    Result operator()(const store::SweepCommand& c) const { return backend.sweep(c); }
    Result operator()(const store::CommitCommand& c) const { return backend.commit(c); }
    Result operator()(const store::InvalidateCommand& c) const { return backend.invalidate(c); }
    Result operator()(const store::DocumentCommand& c) const { return backend.document(c); }
    Result operator()(const store::ListCommand& c) const { return backend.list(c); }
    Result operator()(const History& c) const {
      store::HistoryCommand own = c.command;
      if (c.go_on) own.before = side.reached_;
      auto result = backend.history(own);
      side.reached_ = result.reached;
      return result;
    }
    Result operator()(const store::InitGateCommand& c) const { return backend.init_gate(c); }
    Result operator()(const Recover& c) const {
      store::RecoverCommand own = c.command;
      if (own.observed.empty()) own.observed = side.observed();
      return backend.recover(own, core::backend_time(now_ms) + c.wall_difference);
    }
  };
  return std::visit(Visitor{*this, now_ms, backend_}, command);
}

}  // namespace starlease::conformance

// One connection; see the header. A request goes through here once down and once up:
// on_bytes -> on_payload -> on_request -> submit ... answered -> send.
#include "daemon/ipc/connection.hpp"

#include <utility>

#include "proto-ipc/event_encoder.hpp"
#include "proto-ipc/request_decoder.hpp"
#include "proto-ipc/response_encoder.hpp"

namespace starlease::ipc {

Connection::Connection(Endpoint& endpoint, std::uint64_t number,
                       std::unique_ptr<base::ByteStream> stream)
    : endpoint_(endpoint),
      number_(number),
      stream_(std::move(stream)),
      decoder_(endpoint.settings_.max_frame_bytes),
      accepted_at_(endpoint.seams_.clock.boot_now()) {}

void Connection::start() { stream_->start(*this); }

void Connection::close_after_flush() {
  closing_ = true;
  stream_->close_after_flush();
}

// --- up: bytes to requests ----------------------------------------------------------------------

void Connection::on_bytes(std::span<const std::byte> bytes) {
  if (closing_) return;
  if (greeted()) endpoint_.service_.heard(session_);
  if (!unread_.empty()) {
    unread_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
  decoder_.feed(bytes);
  take_frames();
}

void Connection::take_frames() {
  taking_frames_ = true;
  while (!closing_ && in_flight_ < endpoint_.settings_.max_in_flight) {
    const auto frame = decoder_.next();
    if (!frame) {
      broken(frame.error());
      break;
    }
    if (!*frame) break;
    on_payload(**frame);
  }
  taking_frames_ = false;
  unread_ = decoder_.take_rest();
  mind_pressure();
}

void Connection::on_payload(std::string_view payload) {
  const bool admin = endpoint_.audience_ == Audience::operators;
  auto decoded = endpoint_.decoder_.decode(payload, admin);
  if (const auto* error = std::get_if<FrameError>(&decoded)) return broken(error->message);
  if (auto* refusal = std::get_if<RefusedRequest>(&decoded)) {
    return refuse(refusal->id, std::move(refusal->failure));
  }
  on_request(std::get<Request>(std::move(decoded)));
}

void Connection::on_request(Request request) {
  const auto* hello = std::get_if<core::HelloCall>(&request.call);
  if (hello != nullptr && !greeted()) return on_hello(request.id, *hello);
  if (!greeted()) {
    return refuse(request.id, core::invalid("op", "Say hello first").error());
  }
  submit(std::move(request));
}

void Connection::on_hello(const RequestId& id, const core::HelloCall& call) {
  const bool admin = endpoint_.audience_ == Audience::operators;
  auto greeting = endpoint_.service_.hello(stream_->peer(), call, admin, *this);
  if (!greeting) {
    const bool stays = greeting.error().code == core::FailureCode::lease_rate_limited;
    refuse(id, std::move(greeting.error()));
    if (!stays) close_after_flush();
    return;
  }
  session_ = greeting->session;
  send(encode_response(id, endpoint_.service_.correlation(), core::Answer(greeting->answer),
                       endpoint_.settings_.max_frame_bytes));
  endpoint_.service_.greeted(session_);
}

void Connection::submit(Request request) {
  const bool goodbye = std::holds_alternative<core::GoodbyeCall>(request.call);
  ++in_flight_;
  endpoint_.service_.submit(
      session_, std::move(request.call),
      [&endpoint = endpoint_, number = number_, id = std::move(request.id)](service::Reply reply) {
        // The connection may have closed meanwhile: then nobody hears the answer.
        const auto found = endpoint.connections_.find(number);
        if (found != endpoint.connections_.end()) found->second->answered(id, reply);
      });
  if (goodbye && !closing_) {
    depart(service::Departure::left);
    close_after_flush();
  }
}

// --- down: answers and events to bytes ----------------------------------------------------------

void Connection::answered(const RequestId& id, const service::Reply& reply) {
  --in_flight_;
  send(encode_response(id, reply.correlation, reply.outcome, endpoint_.settings_.max_frame_bytes));
  if (!taking_frames_) mind_pressure();
}

void Connection::refuse(const RequestId& id, core::Failure failure) {
  send(encode_response(id, endpoint_.service_.correlation(), base::failed(std::move(failure)),
                       endpoint_.settings_.max_frame_bytes));
}

void Connection::deliver(const core::Event& event) { send(encode_event(event)); }

void Connection::broken(std::string_view why) {
  if (closing_) return;
  send(encode_event(core::ProtocolError{std::string(why)}));
  cut_off_ = true;
  close_after_flush();
}

void Connection::send(std::string payload) {
  if (stream_->write(encode_frame(payload))) return;
  // The peer does not read: its daemon is "gone" for it from now on.
  endpoint_.seams_.log.warning("connection closed: the peer does not read",
                               {{"pid", stream_->peer().pid}});
  closing_ = cut_off_ = true;
  stream_->close();
}

void Connection::mind_pressure() {
  const std::size_t most = endpoint_.settings_.max_in_flight;
  const bool pause = paused_ ? in_flight_ > most / 2 : in_flight_ >= most;
  if (std::exchange(paused_, pause) == pause) return;
  stream_->pause_reading(pause);
  if (pause || unread_.empty()) return;
  const std::string bytes = std::exchange(unread_, {});
  decoder_.feed(std::as_bytes(std::span(bytes)));
  take_frames();
}

void Connection::superseded() {
  session_ = service::SessionId::none;
  close_after_flush();
}

/// What the worker still sends is not handled: it crossed with the last that it was told.
void Connection::farewell() {
  closing_ = true;
  stream_->end_writing();
}

void Connection::watch_peer() { stream_->watch_peer(); }

void Connection::depart(service::Departure departure) {
  const auto session = std::exchange(session_, service::SessionId::none);
  endpoint_.service_.disconnected(session, *this, departure);
}

void Connection::on_closed() {
  closing_ = true;
  if (greeted()) {
    depart(cut_off_ ? service::Departure::cut_off : service::Departure::left);
  }
  endpoint_.closed(number_);
}

}  // namespace starlease::ipc

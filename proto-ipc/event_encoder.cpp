// Events; see the header.
#include "proto-ipc/event_encoder.hpp"

#include "lib/base/rfc3339.hpp"
#include "proto-ipc/lease_json.hpp"
#include "proto-ipc/wire_codes.hpp"

namespace starlease::ipc {
namespace {

struct WriteEvent {
  JsonWriter& writer;

  void operator()(const core::LeaseLost& event) const {
    begin("lease_lost", event);
    write_identity(writer, "lock_identity", event.identity);
    writer.text("reason", core::name(event.reason));
    if (event.state) {
      writer.text("state", core::name(*event.state));
    } else {
      writer.null("state");
    }
    writer.text("detected_at", base::rfc3339_format(event.detected_at.time_since_epoch().count()))
        .number("valid_for_ms", event.valid_for.count());
  }

  void operator()(const core::LeaseExpiring& event) const {
    begin("lease_expiring", event);
    writer.number("remaining_ms", event.remaining.count());
  }

  void operator()(const core::LeaseRenewedNotice& event) const {
    begin("lease_renewed", event);
    write_time(writer, "expires_at", event.expires_at);
    writer.number("valid_for_ms", event.valid_for.count())
        .number("valid_until_boottime_ns", event.valid_until.time_since_epoch().count());
  }

  void operator()(const core::BackendStateChanged& event) const {
    writer.text("event", "backend_state").text("state", core::name(event.state));
  }

  void operator()(const core::Draining& event) const {
    writer.text("event", "draining").flag("restart", event.restart);
  }

  void operator()(const core::ProtocolError& event) const {
    writer.text("event", "protocol_error").text("code", invalid_frame).text("msg", event.message);
  }

 private:
  template <class Event>
  void begin(std::string_view event_name, const Event& event) const {
    writer.text("event", event_name)
        .text("lease_id", event.lease_id.value)
        .number("fencing_token", event.token.value);
  }
};

}  // namespace

std::string encode_event(const core::Event& event) {
  JsonWriter writer;
  std::visit(WriteEvent{writer}, event);
  return writer.finish();
}

}  // namespace starlease::ipc

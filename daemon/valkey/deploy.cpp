// One deployment of the function library; see the header.
#include "daemon/valkey/deploy.hpp"

#include <fmt/core.h>

#include <utility>

#include "daemon/valkey/encode.hpp"
#include "daemon/valkey/function_library.hpp"
#include "daemon/valkey/reply.hpp"

namespace starlease::valkey {

Deploy::Deploy(const LinkSeams& seams, const Endpoint& endpoint)
    : clock_(seams.clock),
      endpoint_(endpoint),
      link_(seams, endpoint, "starleased-deploy", *this) {}

void Deploy::start(Done done) {
  done_ = std::move(done);
  link_.start();
}

void Deploy::conclude(base::Result<Deployed, Fault> result) {
  auto done = std::exchange(done_, nullptr);
  if (done) done(std::move(result));
}

void Deploy::ask(const std::string& command, Step next) {
  link_.call(command, clock_.boot_now() + endpoint_.connect_timeout,
             [this, next](const CallAnswer& answer) {
               if (answer.end == CallEnd::answered) return (this->*next)(*answer.reply);
               if (answer.end == CallEnd::expired_sent) {
                 conclude(base::failed(Fault{"the server did not answer in time", ""}));
               }
             });
}

void Deploy::on_link_up(const redisReply&) { ask(encode_version(), &Deploy::on_version_before); }

void Deploy::on_version_before(const redisReply& reply) {
  // A deployer's user need not be allowed to call functions.
  const auto error = error_text(reply);
  may_ask_ = !(error && error->starts_with("NOPERM"));
  if (may_ask_) {
    const auto version = decode_version(reply);
    if (!version) return conclude(base::failed(version.error()));
    deployed_.before = *version;
  }
  if (deployed_.before.value_or(0) > library_revision()) {
    return conclude(base::failed(
        Fault{fmt::format("the server has revision {} of the function library, and this program "
                          "brings {}",
                          *deployed_.before, library_revision()),
              "deploy with the newest program; older daemons work with a newer revision"}));
  }
  ask(encode_library_load(), &Deploy::on_loaded);
}

void Deploy::on_loaded(const redisReply& reply) {
  if (auto why = load_refused(reply)) return conclude(base::failed(std::move(*why)));
  deployed_.revision = library_revision();
  if (!may_ask_) return conclude(deployed_);
  ask(encode_version(), &Deploy::on_version_after);
}

void Deploy::on_version_after(const redisReply& reply) {
  const auto version = decode_version(reply);
  if (!version) return conclude(base::failed(version.error()));
  if (*version != library_revision()) {
    return conclude(base::failed(Fault{"the library was loaded, but another one answers",
                                       "see whether somebody else deploys at the same time"}));
  }
  conclude(deployed_);
}

}  // namespace starlease::valkey

// Client's lists and histories; see <starlease/client.hpp>.
#include <starlease/client.hpp>

#include "lib/client/answered.hpp"
#include "lib/client/convert.hpp"
#include "lib/client/engine.hpp"

namespace starlease {
namespace {

using client::as;

// Both enums have the order of the protocol.
static_assert(static_cast<int>(ListBy::program) == static_cast<int>(core::ListBy::program));

core::PageRequest page_request(const PageOptions& page) {
  core::PageRequest request;
  if (page.size > 0) request.size = page.size;
  if (!page.cursor.empty()) request.cursor = page.cursor;
  return request;
}

core::ListCall list_call(const ListFilter& filter, const PageOptions& page) {
  core::ListCall call;
  call.by = static_cast<core::ListBy>(filter.by);
  call.page = page_request(page);
  auto& target = call.target.components;
  switch (filter.by) {
    case ListBy::owner:
      if (!filter.owner_principal_id.empty()) {
        call.owner = core::PrincipalId(filter.owner_principal_id);
      }
      break;
    case ListBy::target:
      target[2] = filter.target_namespace;
      target[3] = filter.target_id;
      [[fallthrough]];
    case ListBy::program:
      target[0] = filter.tenant_id;
      target[1] = filter.program_id;
      break;
  }
  return call;
}

LeasePage lease_page(const core::ListedAnswer& answer) {
  LeasePage page;
  for (const auto& one : answer.leases) {
    page.leases.push_back(client::public_inspection(one).lease);
  }
  page.next_cursor = answer.next_cursor;
  return page;
}

HistoryPage history_page(const core::HistoryAnswer& answer) {
  HistoryPage page;
  for (const auto& one : answer.history) page.history.push_back(client::public_inspection(one));
  page.next_cursor = answer.next_cursor;
  return page;
}

}  // namespace

Result<LeasePage> Client::list(const ListFilter& filter, const PageOptions& page) {
  return as<core::ListedAnswer>(engine_->call(list_call(filter, page), page.timeout), lease_page);
}

Result<HistoryPage> Client::history(const Identity& identity, const PageOptions& page) {
  core::HistoryCall call;
  call.identity = client::raw_identity(identity);
  call.page = page_request(page);
  return as<core::HistoryAnswer>(engine_->call(std::move(call), page.timeout), history_page);
}

}  // namespace starlease

// `starlease list` and `starlease history`: all pages, as one answer.
#include <algorithm>

#include "lib/cli/commands.hpp"

namespace starlease::cli {
namespace {

/// What one page may hold, by the protocol.
constexpr std::int64_t largest_page = 100;

/// Asks by `ask(page)` and adds by `add(page)`, which tells how many there are now, until the end
/// or `limit`. Whether there are more, or why it could not be told.
template <class Ask, class Add>
Result<bool> walk(const Context& context, const std::optional<std::int64_t>& limit, Ask&& ask,
                  Add&& add) {
  PageOptions page;
  page.timeout = context.timeout();
  const std::int64_t most = limit.value_or(INT64_MAX);
  std::int64_t count = 0;
  do {
    page.size = std::min(most - count, largest_page);
    const auto found = ask(page);
    if (!found) return found.error();
    count = add(*found);
    page.cursor = found->next_cursor;
  } while (!page.cursor.empty() && count < most);
  return !page.cursor.empty();
}

}  // namespace

ExitCode list(const Context& context, const ListArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  std::vector<LeaseInfo> leases;
  const auto more = walk(
      context, arguments.limit,
      [&](const PageOptions& page) { return client->list(arguments.filter, page); },
      [&](const LeasePage& page) {
        leases.insert(leases.end(), page.leases.begin(), page.leases.end());
        return std::ssize(leases);
      });
  if (!more) return context.output.failure(more.error());
  context.output.leases(leases, *more);
  return ExitCode::ok;
}

ExitCode history(const Context& context, const HistoryArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  std::vector<Inspection> endings;
  const auto more = walk(
      context, arguments.limit,
      [&](const PageOptions& page) { return client->history(arguments.identity, page); },
      [&](const HistoryPage& page) {
        endings.insert(endings.end(), page.history.begin(), page.history.end());
        return std::ssize(endings);
      });
  if (!more) return context.output.failure(more.error());
  context.output.history(endings, *more);
  return ExitCode::ok;
}

}  // namespace starlease::cli

// `starlease commit` and `starlease document`: what work under a lease leaves behind, and what it
// left.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "lib/cli/commands.hpp"

namespace starlease::cli {
namespace {

/// As JSON it may be longer than the bound, as compact text it may not; the daemon counts that.
constexpr std::size_t most_bytes = 524'288;

/// All of it, up to the bound; the error says why not.
Result<std::string> read_body(const std::string& file) {
  Error error;
  error.code = ErrorCode::invalid_lease_request;
  error.field = "body";
  std::ifstream opened;
  if (!file.empty()) opened.open(file, std::ios::binary);
  if (!file.empty() && !opened) {
    error.message = file + ": " + std::strerror(errno);
    return error;
  }
  std::istream& in = file.empty() ? std::cin : opened;
  std::string body(most_bytes + 1, '\0');
  in.read(body.data(), static_cast<std::streamsize>(body.size()));
  body.resize(static_cast<std::size_t>(in.gcount()));
  if (body.size() <= most_bytes) return body;
  error.message = "The body is too long: send at most 131072 bytes";
  return error;
}

}  // namespace

ExitCode commit(const Context& context, const CommitArguments& arguments) {
  std::optional<DocumentWrite> write = arguments.write;
  if (write) {
    auto body = read_body(arguments.body_file);
    if (!body) return context.output.failure(body.error());
    write->body_json = *std::move(body);
  }
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto committed =
      client->commit(arguments.envelope_json, write, {context.timeout(), arguments.request_id});
  if (!committed) return context.output.failure(committed.error());
  context.output.commit(*committed);
  return ExitCode::ok;
}

ExitCode document(const Context& context, const DocumentArguments& arguments) {
  auto client = Client::connect(context.client_options());
  if (!client) return context.output.failure(client.error());
  const auto found = client->document(arguments.identity, arguments.name, context.timeout());
  if (!found) return context.output.failure(found.error());
  context.output.document(*found);
  return ExitCode::ok;
}

}  // namespace starlease::cli

// `starlease admin …`: what the operator asks on the admin socket, and the start of starleased for
// what it does itself.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lib/cli/commands.hpp"
#include "lib/client/admin.hpp"
#include "proto-ipc/json_writer.hpp"

namespace starlease::cli {
namespace {

Result<client::AdminClient> connect(const Context& context) {
  ClientOptions options = context.client_options();
  options.socket_path = context.common.admin_socket;
  return client::AdminClient::connect(options);
}

/// starleased beside this program, or beside it in the build folder, or by its name alone.
std::string daemon_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto folder = self.parent_path();
    for (const auto& path : {folder / "starleased", folder / "../sbin/starleased",
                             folder / "../../daemon/starleased"}) {
      const bool is_file = std::filesystem::is_regular_file(path, error);
      if (is_file && ::access(path.c_str(), X_OK) == 0) return path.lexically_normal();
    }
  }
  return "starleased";
}

std::string partition_row(const client::PartitionState& partition) {
  return "  " + std::to_string(partition.partition) + "  " + partition.state + "  epoch " +
         std::to_string(partition.epoch) + "  token floor " +
         std::to_string(partition.token_floor) + "  sequence " +
         std::to_string(partition.sequence) + "\n";
}

}  // namespace

ExitCode deploy(const Context& context, const DeployArguments& arguments) {
  const std::string program = daemon_program();
  std::vector<std::string> words = {program, "--deploy-functions"};
  words.insert(words.end(), arguments.arguments.begin(), arguments.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  Error error;
  error.code = ErrorCode::no_daemon;
  error.message = program + " could not be started (" + std::strerror(errno) +
                  "); install it, or put it into PATH";
  (void)context.output.failure(error);
  return errno == ENOENT ? ExitCode::not_found : ExitCode::cannot_execute;
}

ExitCode namespace_operation(const Context& context, const NamespaceArguments& arguments) {
  auto client = connect(context);
  if (!client) return context.output.failure(client.error());
  const auto state = arguments.init ? client->namespace_init(context.timeout())
                                    : client->namespace_status(context.timeout());
  if (!state) return context.output.failure(state.error());
  ipc::JsonWriter writer;
  writer.text("status", "success").text("namespace", state->name).array("partitions");
  std::string text = "namespace " + state->name + "\n";
  for (const client::PartitionState& partition : state->partitions) {
    text += partition_row(partition);
    writer.object_element()
        .number("partition", partition.partition)
        .text("state", partition.state)
        .number("epoch", partition.epoch)
        .number("token_floor", partition.token_floor)
        .number("sequence", partition.sequence)
        .end();
  }
  writer.end();
  context.output.print(writer.finish(), text);
  return ExitCode::ok;
}

ExitCode stats(const Context& context, const StatsArguments&) {
  auto client = connect(context);
  if (!client) return context.output.failure(client.error());
  const auto values = client->stats(context.timeout());
  if (!values) return context.output.failure(values.error());
  ipc::JsonWriter writer;
  writer.text("status", "success").object("stats");
  std::string text;
  for (const auto& [name, value] : *values) {
    writer.number(name, value);
    std::string line = name + " ";
    line.resize(std::max<std::size_t>(line.size(), 36), ' ');
    text += line + std::to_string(value) + "\n";
  }
  writer.end();
  context.output.print(writer.finish(), text);
  return ExitCode::ok;
}

}  // namespace starlease::cli

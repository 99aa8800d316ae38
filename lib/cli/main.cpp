// The program starlease: parses the command line and does what it says. Nothing else.
#include <cstdio>

#include "lib/cli/arguments.hpp"
#include "lib/cli/commands.hpp"

int main(int argc, char** argv) {
  using namespace starlease::cli;
  const auto parsed = parse_arguments(argc, argv);
  if (const auto* farewell = std::get_if<Farewell>(&parsed)) {
    std::fputs(farewell->text.c_str(), farewell->code == ExitCode::ok ? stdout : stderr);
    return static_cast<int>(farewell->code);
  }
  return perform(std::get<Invocation>(parsed));
}

// Decisions of --dev; see the header.
#include "daemon/dev_mode.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/uv/socket_path.hpp"
#include "lib/core/principal.hpp"

namespace starlease {
namespace {

constexpr std::string_view worker_socket = "/starleased.sock";
constexpr std::string_view admin_socket = "/admin.sock";
constexpr std::string_view valkey_socket = "/valkey.sock";
constexpr std::size_t longest_name = worker_socket.size();

auto refuse(ExitCode code, const std::string& what) {
  return base::failed(Farewell{code, fmt::format("starleased: {}\n", what)});
}

auto refuse_errno(const std::string& path) {
  return refuse(ExitCode::cannot_create,
                fmt::format("run directory {}: {}", path, std::strerror(errno)));
}

/// Looked at before anything is made.
bool fits(const std::string& path) {
  return path.size() + longest_name <= uv::max_socket_path_bytes;
}

auto refuse_length(const std::string& path) {
  return refuse(
      ExitCode::usage,
      fmt::format("{}{} is {} bytes long; a socket's path has at most {}: choose a shorter "
                  "--run-dir",
                  path, worker_socket, path.size() + longest_name, uv::max_socket_path_bytes));
}

base::Result<RunDir, Farewell> temporary_dir() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string parent = runtime != nullptr && *runtime == '/' ? runtime : "/tmp";
  if (::access(parent.c_str(), W_OK) != 0) parent = "/tmp";
  std::string path = parent + "/starleased-XXXXXX";
  if (!fits(path)) return refuse_length(path);
  if (::mkdtemp(path.data()) == nullptr) return refuse_errno(path);
  return RunDir{path, true, true};
}

}  // namespace

base::Result<RunDir, Farewell> prepare_run_dir(const std::string& wanted) {
  if (wanted.empty()) return temporary_dir();
  std::error_code error;
  const std::string path = std::filesystem::absolute(wanted, error).lexically_normal().string();
  if (error)
    return refuse(ExitCode::usage, fmt::format("run directory {}: {}", wanted, error.message()));
  if (!fits(path)) return refuse_length(path);
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return refuse_errno(path);
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return refuse_errno(path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0022) != 0) {
    return refuse(
        ExitCode::cannot_create,
        fmt::format("run directory {}: must be a directory of this user that nobody else can "
                    "write to (chmod 0700)",
                    path));
  }
  const bool empty = std::filesystem::is_empty(path, error) && !error;
  return RunDir{path, made || empty, false};
}

config::RawEntries dev_entries(const std::string& run_dir, std::uint32_t uid) {
  config::RawEntries entries;
  const auto set = [&entries](std::string path, std::string value) {
    entries.push_back({std::move(path), config::Untyped{std::move(value)}, {"--dev"}});
  };
  set("state_directory", run_dir + "/state");
  set("socket.path", run_dir + std::string(worker_socket));
  set("socket.mode", "0600");
  set("admin_socket.path", run_dir + std::string(admin_socket));
  set("admin_socket.mode", "0600");
  set("valkey.unix_path", dev_valkey_socket(run_dir));
  set("valkey.namespace", "dev");
  set("valkey.load_functions", "true");
  set("principal.0.id", "developer");
  set("principal.0.uid", std::to_string(uid));
  set("principal.0.class", "developer");
  set("principal.0.capabilities", fmt::format("{}", fmt::join(core::capability_names, ",")));
  for (const char* scope : {"tenants", "programs", "target_namespaces", "targets", "actors",
                            "workflows", "operation_classes"}) {
    set(fmt::format("principal.0.{}", scope), "*");
  }
  return entries;
}

std::vector<std::string> dev_valkey_arguments(const std::string& run_dir) {
  return {"--port",
          "0",
          "--unixsocket",
          dev_valkey_socket(run_dir),
          "--unixsocketperm",
          "700",
          "--dir",
          dev_valkey_data(run_dir),
          "--logfile",
          run_dir + "/valkey.log",
          "--daemonize",
          "no",
          "--databases",
          "1",
          "--save",
          "",
          "--appendonly",
          "yes",
          "--appendfsync",
          "always",
          "--maxmemory-policy",
          "noeviction"};
}

std::string dev_valkey_data(const std::string& run_dir) { return run_dir + "/valkey"; }

std::string dev_valkey_socket(const std::string& run_dir) {
  return run_dir + std::string(valkey_socket);
}

}  // namespace starlease

// Bind under a temporary name, make it right, listen, and only then rename it into place.
#include "daemon/uv/bound_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace starlease::uv {
namespace {

/// Only the holder of the path's lock uses it. It fits where `path` fits: where one byte more does
/// not, the last byte is replaced.
std::string temporary_name(std::string path) {
  if (path.size() < max_socket_path_bytes) return path + "~";
  path.back() = path.back() == '~' ? '+' : '~';
  return path;
}

Error not_a_socket(const std::string& path) {
  return {
      ErrorKind::not_a_socket, EEXIST,
      fmt::format("{} exists and is not a socket; it is left alone: move it away or use another "
                  "path",
                  path)};
}

Error in_use(const std::string& path, std::string_view why) {
  return {
      ErrorKind::in_use, EADDRINUSE,
      fmt::format("{} is served by another process ({}); stop it or use another path", path, why)};
}

/// What may be replaced or removed at `path`: nothing there, or a socket that nobody listens on
/// (its id).
Result<std::optional<FileId>> find_stale(const std::string& path) {
  auto entry = look_at(path);
  if (!entry) return base::failed(std::move(entry.error()));
  if (!*entry) return std::nullopt;
  if (!(*entry)->is_socket()) return base::failed(not_a_socket(path));
  const auto probe = connect_unix(path);
  if (probe) return base::failed(in_use(path, "it accepts connections"));
  switch (probe.error().errno_value) {
    case ECONNREFUSED:
      return (*entry)->id;
    case ENOENT:
      return std::nullopt;
    case EAGAIN:
      return base::failed(in_use(path, "its backlog is full"));
    case EPROTOTYPE:
      return base::failed(in_use(path, "it is no stream socket"));
    default:
      return base::failed(probe.error());
  }
}

/// What a crash has left under the temporary name; a living neighbour may really have that name.
Result<void> remove_leftover(const std::string& temporary) {
  const auto stale = find_stale(temporary);
  if (!stale) return base::failed(stale.error());
  if (!*stale) return {};
  if (::unlink(temporary.c_str()) == 0) return {};
  return base::failed(system_error(fmt::format("cannot remove {}", temporary), errno));
}

/// Mode and owner of the name. The umask has done the mode already; some file systems take their
/// own.
Result<FileId> make_right(const SocketSpec& spec, const std::string& name) {
  const uid_t owner = spec.owner.value_or(static_cast<uid_t>(-1));
  const gid_t group = spec.group.value_or(static_cast<gid_t>(-1));
  if ((spec.owner || spec.group) && ::lchown(name.c_str(), owner, group) != 0) {
    return base::failed(system_error(
        fmt::format("cannot give {} to its configured owner or group", spec.path), errno));
  }
  if (::chmod(name.c_str(), spec.mode) != 0) {
    return base::failed(system_error(fmt::format("cannot set the mode of {}", spec.path), errno));
  }
  auto entry = look_at(name);
  if (!entry) return base::failed(std::move(entry.error()));
  constexpr mode_t permission_bits = 0777;
  if (!*entry || ((*entry)->mode & permission_bits) != (spec.mode & permission_bits)) {
    return base::failed(
        Error{ErrorKind::system, EPERM,
              fmt::format("the file system does not keep mode {:04o} of {}; use a local one",
                          spec.mode, spec.path)});
  }
  return (*entry)->id;
}

/// True unless it is certain that nothing lies at the path.
bool still_there(const std::string& path) {
  const auto entry = look_at(path);
  return !entry || entry->has_value();
}

/// Puts the finished name in place of nothing, or of the stale socket `stale`; of nothing else.
Result<void> put_in_place(const std::string& temporary, const std::string& path,
                          const std::optional<FileId>& stale) {
  const unsigned int how = stale ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), how) != 0) {
    // EINVAL: the file system cannot; then what was seen a moment ago has to do.
    const bool as_seen = stale ? still_names(path, *stale) : !still_there(path);
    if (errno == EEXIST || !as_seen) return base::failed(in_use(path, "it has just appeared"));
    if (::rename(temporary.c_str(), path.c_str()) == 0) return {};
    return base::failed(system_error(fmt::format("cannot make {}", path), errno));
  }
  if (!stale) return {};
  if (still_names(temporary, *stale)) {
    ::unlink(temporary.c_str());
    return {};
  }
  ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE);
  return base::failed(in_use(path, "it has just been replaced"));
}

}  // namespace

Result<BoundSocket> BoundSocket::bind(SocketSpec spec) {
  const auto address = socket_address(spec.path);
  if (!address) return base::failed(address.error());
  auto lock = PathLock::acquire(spec.path);
  if (!lock) return base::failed(std::move(lock.error()));
  auto named = make_named(spec);
  if (!named) return base::failed(std::move(named.error()));
  return BoundSocket(std::move(spec), std::move(*lock), std::move(*named));
}

/// REQUIRES: the path's lock is held.
Result<BoundSocket::Named> BoundSocket::make_named(const SocketSpec& spec) {
  const auto stale = find_stale(spec.path);
  if (!stale) return base::failed(stale.error());
  const std::string temporary = temporary_name(spec.path);
  if (auto removed = remove_leftover(temporary); !removed) return base::failed(removed.error());

  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return base::failed(system_error("cannot make a socket", errno));
  const auto address = socket_address(temporary);
  if (!address) return base::failed(address.error());
  const mode_t previous = ::umask(~spec.mode & 0777);
  const int bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int bind_errno = errno;
  ::umask(previous);
  if (bound != 0) {
    return base::failed(system_error(
        fmt::format("cannot bind {} (its folder must exist and be writable)", spec.path),
        bind_errno));
  }
  auto id = make_right(spec, temporary);
  if (id && ::listen(socket.get(), spec.backlog) != 0) {
    id = base::failed(system_error(fmt::format("cannot listen on {}", spec.path), errno));
  }
  if (id) {
    if (auto placed = put_in_place(temporary, spec.path, *stale); !placed) {
      id = base::failed(std::move(placed.error()));
    }
  }
  if (!id) {
    ::unlink(temporary.c_str());
    return base::failed(std::move(id.error()));
  }
  return Named{std::move(socket), *id};
}

BoundSocket::Presence BoundSocket::presence() const {
  const auto entry = look_at(spec_.path);
  if (!entry || !*entry) return Presence::missing;
  return (*entry)->id == id_ ? Presence::ours : Presence::replaced;
}

Result<OwnedFd> BoundSocket::heal() {
  if (auto kept = lock_.keep(); !kept) return base::failed(std::move(kept.error()));
  auto named = make_named(spec_);
  if (!named) return base::failed(std::move(named.error()));
  id_ = named->id;
  return std::exchange(socket_, std::move(named->socket));
}

void BoundSocket::remove_path() {
  if (socket_ && still_names(spec_.path, id_)) ::unlink(spec_.path.c_str());
}

}  // namespace starlease::uv

// Administrators' key files; see the header. Three lines: what it is, the key's id, the seed.
#include "lib/cli/admin_key.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "lib/base/base64url.hpp"
#include "lib/base/crypto.hpp"
#include "lib/base/system_random.hpp"
#include "lib/client/unique_fd.hpp"

namespace starlease::cli {
namespace {

constexpr std::string_view first_line = "starlease-admin-key-1\n";
constexpr std::size_t longest_file = 1024;

Error fault(const std::string& path, const std::string& what) {
  Error error;
  error.code = ErrorCode::invalid_lease_request;
  error.field = "--key";
  error.message = path + ": " + what;
  return error;
}

bool is_id(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= 128 &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<AdminKey> parse(std::string_view text) {
  if (!text.starts_with(first_line)) return std::nullopt;
  text.remove_prefix(first_line.size());
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.ends_with('\n') || text.size() < end + 2) {
    return std::nullopt;
  }
  const std::string_view id = text.substr(0, end);
  auto seed = base::base64url_decode(text.substr(end + 1, text.size() - end - 2));
  if (!seed || !is_id(id)) return std::nullopt;
  auto key = base::SigningKey::from_seed(*seed);
  base::wipe({reinterpret_cast<char*>(seed->data()), seed->size()});
  if (!key) return std::nullopt;
  return AdminKey{std::string(id), *std::move(key)};
}

}  // namespace

Result<AdminKey> make_admin_key(const std::string& path, const std::string& id) {
  if (!base::crypto_start()) return fault(path, "this system gives no safe randomness");
  if (!is_id(id)) return fault(path, "the key's id must be 1 to 128 of [A-Za-z0-9._-]");
  base::SystemRandom random;
  AdminKey made{id, base::SigningKey::make(random)};
  client::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return fault(path, std::strerror(errno));
  std::string text = std::string(first_line) + id + "\n" +
                     base::base64url_encode(std::as_bytes(std::span(made.key.seed()))) + "\n";
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size()) && ::fsync(file.get()) == 0;
  base::wipe(text);
  if (whole) return made;
  const Error error = fault(path, std::strerror(errno));
  ::unlink(path.c_str());
  return error;
}

Result<AdminKey> read_admin_key(const std::string& path) {
  if (!base::crypto_start()) return fault(path, "this system gives no safe randomness");
  client::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return fault(path, std::strerror(errno));
  }
  if ((status.st_mode & 0077) != 0) {
    return fault(path, "others can read this key: chmod 600, or make a new one");
  }
  std::array<char, longest_file> bytes{};
  const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
  auto key = size < 0 ? std::nullopt
                      : parse(std::string_view(bytes.data(), static_cast<std::size_t>(size)));
  base::wipe(bytes);
  if (!key) return fault(path, "is no key that starlease admin keygen has made");
  return *std::move(key);
}

std::string public_entry(const AdminKey& key) {
  return key.id + ":" + base::base64url_encode(key.key.public_key());
}

}  // namespace starlease::cli

// The two generated documents; see the header.
#include "daemon/config/print_reference.hpp"

#include <fmt/format.h>

#include "daemon/config/key_table.hpp"

namespace starlease::config {
namespace {

constexpr std::size_t comment_columns = 98;

/// The default as it is written in TOML.
std::string toml_default(const KeyInfo& key) {
  if (key.kind == Kind::integer || key.kind == Kind::flag) return std::string(key.default_text);
  if (key.kind != Kind::list) return fmt::format("\"{}\"", key.default_text);
  if (key.default_text.empty()) return "[]";
  return fmt::format("[\"{}\"]", key.default_text);
}

/// `text` as comment lines of bounded width.
std::string comment(std::string_view text) {
  std::string out;
  std::string line = "#";
  while (!text.empty()) {
    const auto space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
    if (line.size() + 1 + word.size() > comment_columns) {
      out += line + "\n";
      line = "#";
    }
    line += fmt::format(" {}", word);
  }
  return out + line + "\n";
}

std::string_view leaf(const KeyInfo& key) {
  const auto dot = key.path.rfind('.');
  return dot == std::string_view::npos ? key.path : key.path.substr(dot + 1);
}

std::string markdown_row(const KeyInfo& key, std::string_view name) {
  std::string allowed = describe(key);
  return fmt::format("| `{}` | {} | `{}` | {} |\n", name, allowed, toml_default(key), key.why);
}

constexpr std::string_view table_head =
    "\n| key | type and range | default | what and why |\n|---|---|---|---|\n";

constexpr std::string_view intro = R"(# Configuration of starleased

Written by `starleased --print-reference md` from the table that the daemon itself reads with; a
test fails when they differ. `starleased --check-config --config FILE` checks a file without
starting.

- The file is TOML. An unknown key, a value of another type or one out of range is refused with the
  file and line and what is allowed; so is a combination that makes no sense. Nothing is guessed.
- Every key can also be given as `--set key=value` (again and again; it wins over the file). Lists
  are separated by commas. `principal.0.uid=1000` means the first `[[principal]]`.
- Durations are in milliseconds and sizes in bytes, and say so in their names.
- No secret is ever in this file: it names the file or systemd credential that holds one.
)";

constexpr std::string_view principal_intro = R"(
## [[principal]]

Who may do what. A connection is authenticated by the kernel's word on the peer's user and group;
the first table that fits is its principal, and a peer that none fits is refused. A scope list holds
normalized values (lower case), prefixes written `"abc*"`, or `"*"` for everything. **An empty list
allows nothing**: all seven must be given for a principal that is to hold leases.
)";

constexpr std::string_view example_head =
    R"(# Example configuration of starleased: every key, commented out at its default.
# Printed by `starleased --print-reference toml`; the reference is configuration.md.
# Only the backend's address and one [[principal]] must be given.
)";

constexpr std::string_view example_principal = R"(
# Who may do what; one table each, the first that fits the peer counts. For example:
#
# [[principal]]
# id = "usernamegen"
# uid = "starlease-worker"
# capabilities = ["targets:read", "targets:lease"]
# tenants = ["tenant-main"]
# programs = ["*"]
# target_namespaces = ["starintel-target"]
# targets = ["*"]
# actors = ["usernamegen"]
# workflows = ["*"]
# operation_classes = ["default"]
#
# Its keys:
)";

}  // namespace

std::string reference_markdown() {
  std::string out(intro);
  for (const Section& section : sections()) {
    out += section.path.empty() ? "\n## Top level\n" : fmt::format("\n## [{}]\n", section.path);
    out += fmt::format("\n{}\n{}", section.about, table_head);
    for (const auto& key : keys()) {
      if (section_of(key.path) == section.path) out += markdown_row(key, key.path);
    }
  }
  out += principal_intro;
  out += table_head;
  for (const auto& key : principal_keys()) out += markdown_row(key, key.path);
  return out;
}

std::string example_toml() {
  std::string out(example_head);
  for (const Section& section : sections()) {
    out += "\n" + comment(section.about);
    if (!section.path.empty()) out += fmt::format("[{}]\n", section.path);
    for (const auto& key : keys()) {
      if (section_of(key.path) != section.path) continue;
      out += comment(fmt::format("{} Allowed: {}.", key.why, describe(key)));
      out += fmt::format("#{} = {}\n", leaf(key), toml_default(key));
    }
  }
  out += example_principal;
  for (const auto& key : principal_keys()) {
    out += comment(fmt::format("{}: {}", key.path, key.why));
  }
  return out;
}

}  // namespace starlease::config

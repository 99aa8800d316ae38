// The two generated documents: complete, valid, and the same as those in docs/.
#include <doctest/doctest.h>

#include <cstdlib>
#include <regex>

#include "daemon/config/key_table.hpp"
#include "daemon/config/print_reference.hpp"
#include "daemon/config/read_file.hpp"
#include "tests/unit/config/config_test.hpp"

using namespace starlease;
using test::has;
using test::load_text;
using test::problems;

namespace {

/// What is in docs/; SOURCE_ROOT is given by the build.
std::string document(const std::string& name) {
  return config::read_file(SOURCE_ROOT "/docs/" + name, 1 << 20).value_or("(missing)");
}

}  // namespace

TEST_CASE("docs/configuration.md is what starleased --print-reference md prints") {
  CHECK(document("configuration.md") == config::reference_markdown());
}

TEST_CASE("docs/starleased.example.toml is what starleased --print-reference toml prints") {
  CHECK(document("starleased.example.toml") == config::example_toml());
}

TEST_CASE("both documents name every key") {
  const std::string markdown = config::reference_markdown();
  const std::string toml = config::example_toml();
  for (const auto& key : config::keys()) {
    CHECK(has(markdown, "| `" + std::string(key.path) + "` |"));
    const std::string leaf(key.path.substr(
        key.path.rfind('.') == std::string_view::npos ? 0 : key.path.rfind('.') + 1));
    CHECK(has(toml, "\n#" + leaf + " = "));
    CHECK_FALSE(key.why.empty());
  }
  for (const auto& key : config::principal_keys()) {
    CHECK(has(markdown, "| `" + std::string(key.path) + "` |"));
  }
}

TEST_CASE("every section of the table has keys, and every key a section") {
  for (const auto& section : config::sections()) {
    bool used = false;
    for (const auto& key : config::keys())
      used = used || config::section_of(key.path) == section.path;
    CHECK_MESSAGE(used, section.path);
  }
  for (const auto& key : config::keys()) {
    bool known = false;
    for (const auto& section : config::sections())
      known = known || section.path == config::section_of(key.path);
    CHECK_MESSAGE(known, key.path);
  }
}

TEST_CASE("the example loads as it is, and means the same with every comment sign taken off") {
  const std::string need = "[[principal]]\nid = \"w\"\nuid = 1\n[valkey]\nunix_path = \"/v\"\n";
  std::string example = config::example_toml();
  // [valkey] may be given once: put the address where the example has its own.
  const std::string address = "#unix_path = \"\"";
  const auto at = example.find(address);
  REQUIRE(at != std::string::npos);
  example.replace(at, address.size(), "unix_path = \"/v\"");
  const std::string principal = "\n[[principal]]\nid = \"w\"\nuid = 1\n";
  CHECK(problems(load_text(example + principal)) == "");

  const std::string open = std::regex_replace(example, std::regex("(^|\n)#([a-z_]+ = )"), "$1$2");
  const auto valid = load_text(open + principal);
  CHECK(problems(valid) == "");
  CHECK(problems(load_text(need)) == "");
  REQUIRE(valid);
  CHECK(valid->service.policy.maximum_ttl == core::LeasePolicy{}.maximum_ttl);
}

TEST_CASE("the example's principal is valid") {
  std::string text = config::example_toml();
  const auto begin = text.find("# [[principal]]");
  const auto end = text.find("#\n# Its keys");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  std::string principal =
      std::regex_replace(text.substr(begin, end - begin), std::regex("(^|\n)# "), "$1");
  principal = std::regex_replace(principal, std::regex("uid = \"[a-z-]+\""), "uid = 1");
  CHECK(problems(load_text("[valkey]\nunix_path = \"/v\"\n" + principal)) == "");
}

// Normalization of identities: the shared vectors, each bound at its edge, each component by name.
#include "lib/core/identity.hpp"

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

rapidjson::Document vectors() {
  std::ifstream file(STARLEASE_LOCK_KEYS);
  std::stringstream text;
  text << file.rdbuf();
  rapidjson::Document document;
  document.Parse(text.str().c_str());
  REQUIRE(!document.HasParseError());
  return document;
}

void merge(RawIdentity& raw, const rapidjson::Value& members) {
  for (std::size_t i = 0; i < component_count; ++i) {
    const auto found = members.FindMember(std::string(component_names[i]).c_str());
    if (found == members.MemberEnd()) continue;
    const rapidjson::Value& value = found->value;
    if (value.IsString())
      raw.components[i] = std::string(value.GetString(), value.GetStringLength());
  }
}

TEST_CASE("every accepted vector normalizes to its array and gives its lock key") {
  const auto document = vectors();
  REQUIRE(document["accepted"].Size() > 10);
  for (const auto& vector : document["accepted"].GetArray()) {
    CAPTURE(vector["note"].GetString());
    RawIdentity raw;
    merge(raw, vector["identity"]);
    IdentityPolicy policy;
    policy.operation_classes.emplace_back(vector["canonical"][6].GetString());
    const auto identity = normalize(raw, policy);
    REQUIRE(identity);
    for (std::size_t i = 0; i < component_count; ++i) {
      const auto& wanted = vector["canonical"][static_cast<rapidjson::SizeType>(i)];
      CHECK(identity->components[i] == wanted.GetString());
    }
    CHECK(lock_key(lock_digest(*identity)) == vector["lock_key"].GetString());
    RawIdentity again;
    for (std::size_t i = 0; i < component_count; ++i) again.components[i] = identity->components[i];
    CHECK(normalize(again, policy).value() == *identity);
  }
}

TEST_CASE("every refused vector is refused with its field") {
  const auto document = vectors();
  int checked = 0;
  for (const auto& vector : document["refused"].GetArray()) {
    const auto& change = vector["change"];
    const auto member = change.MemberBegin();
    const bool known =
        std::ranges::find(component_names, member->name.GetString()) != component_names.end();
    // Other types and unknown members are refused by the request decoder, whose tests have them.
    if (!member->value.IsString() || !known) continue;
    ++checked;
    CAPTURE(vector["note"].GetString());
    RawIdentity raw;
    merge(raw, document["accepted"][0]["identity"]);
    merge(raw, change);
    const auto identity = normalize(raw, {});
    REQUIRE(!identity);
    CHECK(identity.error().code == FailureCode::invalid_lease_request);
    CHECK(identity.error().field == "identity." + std::string(member->name.GetString()));
    CHECK(!identity.error().message.empty());
  }
  CHECK(checked == 19);
}

TEST_CASE("each of the five required components is missed by name; two have a default") {
  for (std::size_t i = 0; i < component_count; ++i) {
    RawIdentity raw = sample::raw_identity();
    raw.components[i].reset();
    const auto identity = normalize(raw, {});
    if (i >= 5) {
      REQUIRE(identity);
      CHECK(identity->components[i] == "default");
    } else {
      REQUIRE(!identity);
      CHECK(identity.error().field == "identity." + std::string(component_names[i]));
    }
  }
}

TEST_CASE("256 bytes are accepted and 257 are not, counted after normalization") {
  const auto with_target = [](std::string target) {
    RawIdentity raw = sample::raw_identity();
    raw.components[3] = std::move(target);
    return normalize(raw, {});
  };
  CHECK(with_target(std::string(256, 'a')));
  CHECK(!with_target(std::string(257, 'a')));
  CHECK(with_target(" " + std::string(256, 'a') + "\t"));
  std::string decomposed;
  for (int i = 0; i < 128; ++i) decomposed += "e\xcc\x81";  // 384 bytes, 256 once composed
  CHECK(with_target(decomposed));
  CHECK(!with_target(decomposed + "a"));
}

TEST_CASE("an operation class outside the closed list is refused, a configured one is not") {
  RawIdentity raw = sample::raw_identity();
  raw.components[6] = "Scan";
  const auto refused = normalize(raw, {});
  REQUIRE(!refused);
  CHECK(refused.error().field == "identity.operation_class");
  IdentityPolicy policy;
  policy.operation_classes.emplace_back("scan");
  CHECK(normalize(raw, policy));
}

TEST_CASE("target_id keeps its case where its namespace is configured so, and nothing else does") {
  RawIdentity raw = sample::raw_identity();
  raw.components[2] = "NS";
  raw.components[3] = "Target";
  CHECK(normalize(raw, {})->at(Component::target_id) == "target");
  IdentityPolicy policy;
  policy.case_sensitive_namespaces.emplace_back("ns");
  const auto kept = normalize(raw, policy);
  CHECK(kept->at(Component::target_id) == "Target");
  CHECK(kept->at(Component::target_namespace) == "ns");
}

}  // namespace
}  // namespace starlease::core

// The writer: what comes out is one compact object that the strict reader takes apart to the same.
#include "proto-ipc/json_writer.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "proto-ipc/strict_json.hpp"
#include "proto-ipc/wire_codes.hpp"

namespace ipc = starlease::ipc;
namespace core = starlease::core;

TEST_CASE("json writer: members stand in the order of the calls") {
  ipc::JsonWriter writer;
  writer.text("b", "x").number("a", -5).flag("t", true).null("n").raw("r", R"({"k":[1]})");
  writer.object("o").text("", "").end();
  writer.array("l").element("p").element("q").object_element().number("z", 1).end().end();
  CHECK(writer.finish() ==
        R"({"b":"x","a":-5,"t":true,"n":null,"r":{"k":[1]},"o":{"":""},"l":["p","q",{"z":1}]})");
  CHECK(ipc::JsonWriter().finish() == "{}");
}

TEST_CASE("json writer: every character comes back") {
  std::string text;
  for (char c = 0; c < 0x7f; ++c) text += c;
  text += "\u00e9\u2028\ufffd\U0001F600";
  ipc::JsonWriter writer;
  writer.text(text, text).number("min", INT64_MIN).number("max", INT64_MAX);
  const std::string json = writer.finish();
  ipc::JsonReader reader;
  const auto value = reader.read(json);
  REQUIRE(value);
  CHECK(value->find(text)->string() == text);
  CHECK(value->find("min")->integer() == INT64_MIN);
  CHECK(value->find("max")->integer() == INT64_MAX);
}

TEST_CASE("json writer: bytes that are not UTF-8 do not reach the wire") {
  ipc::JsonWriter writer;
  writer.text("a", "x\xff\xc3y").text("b", std::string_view());
  CHECK(writer.finish() == R"({"a":"x??y","b":""})");
}

TEST_CASE("wire codes: each code has one name and comes back from it") {
  for (int i = 0; i <= static_cast<int>(core::FailureCode::lease_not_found); ++i) {
    const auto code = static_cast<core::FailureCode>(i);
    CHECK(ipc::parse_failure_code(core::name(code)) == code);
    CHECK_FALSE(ipc::parse_success_code(core::name(code)));
  }
  for (int i = 0; i <= static_cast<int>(ipc::SuccessCode::lease_resolved); ++i) {
    const auto code = static_cast<ipc::SuccessCode>(i);
    CHECK(ipc::parse_success_code(ipc::name(code)) == code);
    CHECK_FALSE(ipc::parse_failure_code(ipc::name(code)));
  }
  CHECK_FALSE(ipc::parse_failure_code("lease-conflict"));
  CHECK_FALSE(ipc::parse_success_code(""));
}

// The strict reader: what is JSON is taken apart exactly, what is not is refused, however deep it
// stands and whether it is used or not.
#include "proto-ipc/strict_json.hpp"

#include <doctest/doctest.h>
#include <rapidjson/reader.h>

#include <random>
#include <string>
#include <vector>

#include "proto-ipc/limits.hpp"
#include "tests/unit/proto_ipc/vectors.hpp"

namespace ipc = starlease::ipc;

namespace {

std::string refusal(std::string_view payload) {
  ipc::JsonReader reader;
  const auto value = reader.read(payload);
  return value ? "" : std::string(value.error());
}

std::string compact(std::string_view payload) {
  ipc::JsonReader reader;
  const auto value = reader.read(payload);
  REQUIRE(value);
  std::string text;
  ipc::append_compact(text, *value);
  return text;
}

std::string nested(std::size_t depth) {
  return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

enum class Verdict { json, no_json, unknown };

/// What another strict parser says; it knows nothing of repeated keys and depth, and gives up on
/// exponents that no double has.
Verdict second_opinion(const std::string& payload) {
  rapidjson::Reader reader;
  rapidjson::StringStream stream(payload.c_str());
  rapidjson::BaseReaderHandler<> handler;
  constexpr unsigned flags = rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
  const auto result = reader.Parse<flags>(stream, handler);
  if (result.Code() == rapidjson::kParseErrorNumberTooBig) return Verdict::unknown;
  return result.IsError() || payload.contains('\0') ? Verdict::no_json : Verdict::json;
}

}  // namespace

TEST_CASE("strict json: values come apart as they were written") {
  ipc::JsonReader reader;
  const auto value = reader.read(R"( {"s":"a\u00e9\n\"b","i":-5,"f":1.50,"e":1e3,"t":true,"n":null,
                                     "o":{"x":[1,[2],{}]},"":""} )");
  REQUIRE(value);
  CHECK(value->find("s")->string() == "a\u00e9\n\"b");
  CHECK(value->find("i")->integer() == -5);
  CHECK_FALSE(value->find("f")->integer());
  CHECK(value->find("f")->text() == "1.50");
  CHECK_FALSE(value->find("e")->integer());
  CHECK(value->find("t")->boolean() == true);
  CHECK_FALSE(value->find("t")->string());
  CHECK(value->find("n")->type() == ipc::JsonType::null);
  CHECK(value->find("")->string() == "");
  CHECK_FALSE(value->find("missing"));
  CHECK_FALSE(value->find("s")->find("x"));
  const auto list = value->find("o")->find("x");
  std::vector<ipc::JsonType> types;
  for (const auto child : list->children()) types.push_back(child.type());
  CHECK(types == std::vector{ipc::JsonType::number, ipc::JsonType::array, ipc::JsonType::object});
}

TEST_CASE("strict json: integers are exact up to 64 bits and nothing else is one") {
  ipc::JsonReader reader;
  const auto integer = [&reader](const std::string& text) {
    const auto value = reader.read("{\"a\":" + text + "}");
    REQUIRE(value);
    return value->find("a")->integer();
  };
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(integer("9007199254740993") == 9007199254740993);
  CHECK(integer("-0") == 0);
  for (const char* other :
       {"9223372036854775808", "1.0", "1e0", "99999999999999999999999", "\"1\""}) {
    CAPTURE(other);
    CHECK_FALSE(integer(other));
  }
}

TEST_CASE("strict json: what is no JSON object is refused") {
  for (const char* payload : {"",
                              " ",
                              "{",
                              "}",
                              "{\"a\"",
                              "{\"a\":",
                              "{\"a\":1",
                              "{\"a\":1,",
                              "{\"a\":1,}",
                              "{,}",
                              "{\"a\"}",
                              "{\"a\" 1}",
                              "{a:1}",
                              "{\"a\"::1}",
                              "{\"a\":1,,\"b\":1}",
                              "{1:1}",
                              "{\"a\":[1}",
                              "{\"a\":[1,]}",
                              "{\"a\":[,1]}",
                              "{\"a\":[1 2]}",
                              "{\"a\":{]}",
                              "{\"a\":1]",
                              "{\"a\":tru}",
                              "{\"a\":nullx}",
                              "{\"a\":True}",
                              "{\"a\":01}",
                              "{\"a\":-}",
                              "{\"a\":1.}",
                              "{\"a\":.5}",
                              "{\"a\":1e}",
                              "{\"a\":+1}",
                              "{\"a\":0x1}",
                              "{\"a\":NaN}",
                              "{\"a\":-Infinity}",
                              "{\"a\":\"\\x\"}",
                              "{\"a\":\"\\u12\"}",
                              "{\"a\":\"\\ud800\"}",
                              "{\"a\":\"\\udc00\\ud800\"}",
                              "{\"\\ud800\":1}",
                              "{\"a\":\"x}",
                              "{\"a\":'x'}",
                              "{\"a\":\"\n\"}",
                              "{\"a\":1}/**/",
                              "\xef\xbb\xbf{}",
                              "{\"a\":\"\x01\"}",
                              "{\"a\":\"\x7f\"",
                              "\v{}",
                              "{}\f",
                              "{\"a\":\"b\"c}",
                              "{\"a\":{}x}",
                              "{\"a\":1 \"b\":2}"}) {
    CAPTURE(payload);
    CHECK(refusal(payload) != "");
    CHECK(second_opinion(payload) == Verdict::no_json);
  }
  CHECK(refusal("[]") == "The payload is not a JSON object");
  CHECK(refusal("\"a\"") == "The payload is not a JSON object");
  CHECK(refusal("12") == "The payload is not a JSON object");
  CHECK(refusal("{}{}") == "Bytes follow the JSON object of the payload");
  CHECK(refusal("{\"a\":1}}") == "Bytes follow the JSON object of the payload");
  CHECK(refusal("{} 1") != "");
  CHECK(refusal(std::string("{}\0", 3)) != "");
  CHECK(refusal("{\"a\":\"\xff\"}") == "The payload is not valid UTF-8");
  CHECK(refusal("{\"a\":\"\xed\xa0\x80\"}") == "The payload is not valid UTF-8");
  CHECK(refusal("{\"a\":\"\xf4\x90\x80\x80\"}") == "The payload is not valid UTF-8");
  CHECK(refusal("{\"a\":\"\xc3\"}") == "The payload is not valid UTF-8");
}

TEST_CASE("strict json: a repeated key is found at any depth and however it is written") {
  for (const char* payload :
       {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"x":{"a":1,"a":2}})",
        R"({"x":[{},{"a":[],"a":[]}]})", R"({"a":1,"\u0061":2})", R"({"":1,"":2})",
        R"({"é":1,"\u00e9":2})", R"({"x":{"y":{"z":[[[{"a":1,"a":1}]]]}}})"}) {
    CAPTURE(payload);
    CHECK(refusal(payload) == "A key stands twice in one object of the payload");
  }
  CHECK(refusal(R"({"a":{"a":{"a":1}},"b":{"a":1},"A":1})") == "");
}

TEST_CASE("strict json: repeated keys are found among many") {
  for (const int count : {23, 24, 25, 26, 500}) {
    CAPTURE(count);
    std::string members;
    for (int i = 0; i < count; ++i) members += "\"k" + std::to_string(i) + "\":{},";
    CHECK(refusal("{" + members + "\"last\":1}") == "");
    CHECK(refusal("{" + members + "\"k0\":1}") != "");
    CHECK(refusal("{" + members + "\"k" + std::to_string(count - 1) + "\":1}") != "");
  }
}

TEST_CASE("strict json: many keys in one frame are compared in little time") {
  std::string payload = "{";
  for (int i = 0; payload.size() < 250'000; ++i) payload += "\"" + std::to_string(i) + "\":1,";
  payload += "\"x\":1}";
  CHECK(refusal(payload) == "");
}

TEST_CASE("strict json: depth is bounded") {
  CHECK(refusal(nested(ipc::nesting)) == "");
  CHECK(refusal(nested(ipc::nesting + 1)) == "The payload is nested too deeply");
  CHECK(refusal(nested(100'000)) == "The payload is nested too deeply");
}

TEST_CASE("strict json: compact text keeps order, numbers and characters") {
  CHECK(
      compact(
          R"( { "b" : 1.50 , "a" : [ 1E+2 , -0 , "x" ] , "o" : { } , "t" : true ,"n" : null } )") ==
      R"({"b":1.50,"a":[1E+2,-0,"x"],"o":{},"t":true,"n":null})");
  CHECK(compact(R"({"a":"\u00e9\/\ud83d\ude00\u0000\t\\\""})") ==
        "{\"a\":\"\u00e9/\U0001F600\\u0000\\u0009\\\\\\\"\"}");
  const std::string text = R"({"k":[{"a":[[]]},"\u001f",12345678901234567890123]})";
  CHECK(compact(text) == text);
}

TEST_CASE("strict json: a reader that is used again gives each document its own values") {
  ipc::JsonReader reader;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{70'000}, std::size_t{20}}) {
      const std::string text(size, static_cast<char>('a' + round));
      const auto value = reader.read("{\"a\":\"" + text + "\",\"b\":[1,2,3]}");
      REQUIRE(value);
      CHECK(value->find("a")->string() == text);
      REQUIRE_FALSE(reader.read("{\"a\":"));
    }
  }
}

TEST_CASE("strict json: agrees with another parser on mutated messages") {
  std::mt19937 random(3);
  const auto seeds = starlease::ipc_test::vectors_of("requests");
  constexpr std::string_view telling = "{}[]\",:\\u0019-+.eEtfn \n\x01\x80\xc3\xe2\xff";
  ipc::JsonReader reader;
  int accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string payload = seeds[random() % seeds.size()].bytes;
    const auto changes = 1 + random() % 3;
    for (std::uint32_t change = 0; change < changes; ++change) {
      const std::size_t at = random() % payload.size();
      const char c = telling[random() % telling.size()];
      switch (random() % 3) {
        case 0:
          payload[at] = c;
          break;
        case 1:
          payload.insert(at, 1, c);
          break;
        default:
          payload.erase(at, 1 + random() % 3);
          break;
      }
      if (payload.empty()) payload = "{}";
    }
    const auto value = reader.read(payload);
    CAPTURE(payload);
    if (value) {
      ++accepted;
      REQUIRE(second_opinion(payload) != Verdict::no_json);
    } else if (value.error() != "A key stands twice in one object of the payload" &&
               value.error() != "The payload is not a JSON object") {
      REQUIRE(second_opinion(payload) != Verdict::json);
    }
  }
  CHECK(accepted > 1000);
}

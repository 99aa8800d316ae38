// The golden messages: each is decoded and encoded again to exactly its bytes, so that no member
// can be lost, renamed, moved or changed in either direction. The bad frames break, the refused
// requests name their field.
#include "tests/unit/proto_ipc/vectors.hpp"

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "proto-ipc/event_encoder.hpp"
#include "proto-ipc/reply_decoder.hpp"
#include "proto-ipc/request_decoder.hpp"
#include "proto-ipc/request_encoder.hpp"
#include "proto-ipc/response_encoder.hpp"

namespace starlease::ipc_test {

std::string read_vector(const std::filesystem::path& relative) {
  std::ifstream file(STARLEASE_VECTORS / relative, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Vector> vectors_of(const std::string& folder) {
  std::vector<Vector> vectors;
  const std::filesystem::path path = std::filesystem::path(STARLEASE_VECTORS) / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const auto name = entry.path().filename();
    std::string bytes = read_vector(std::filesystem::path(folder) / name);
    if (name.extension() == ".json" && bytes.ends_with('\n')) bytes.pop_back();
    vectors.push_back({name.string(), std::move(bytes)});
  }
  std::ranges::sort(vectors, {}, &Vector::name);
  REQUIRE_FALSE(vectors.empty());
  return vectors;
}

namespace {

void check_requests(const std::string& folder, bool admin, std::set<std::size_t>& kinds) {
  ipc::RequestDecoder decoder;
  for (const Vector& vector : vectors_of(folder)) {
    CAPTURE(vector.name);
    const auto decoded = decoder.decode(vector.bytes, admin);
    const auto* request = std::get_if<ipc::Request>(&decoded);
    REQUIRE(request != nullptr);
    CHECK(ipc::encode_request(request->id, request->call) == vector.bytes);
    kinds.insert(request->call.index());
  }
}

}  // namespace

TEST_CASE("vectors: every request is decoded and encoded to the same bytes") {
  std::set<std::size_t> kinds;
  check_requests("requests", false, kinds);
  check_requests("admin-requests", true, kinds);
  CHECK(kinds.size() == std::variant_size_v<core::Call>);
}

TEST_CASE("vectors: every answer is decoded and encoded to the same bytes") {
  std::set<std::size_t> answers;
  std::set<core::FailureCode> failures;
  for (const Vector& vector : vectors_of("answers")) {
    CAPTURE(vector.name);
    const auto message = ipc::decode_message(vector.bytes);
    REQUIRE(message);
    const auto& reply = std::get<ipc::Reply>(*message);
    CHECK(ipc::encode_response(reply.id, reply.correlation, reply.outcome) == vector.bytes);
    if (reply.outcome) {
      answers.insert(reply.outcome->index());
    } else {
      failures.insert(reply.outcome.error().code);
    }
  }
  CHECK(answers.size() == std::variant_size_v<core::Answer>);
  CHECK(failures.size() == static_cast<std::size_t>(core::FailureCode::commit_conflict) + 1);
}

TEST_CASE("vectors: every event is decoded and encoded to the same bytes") {
  std::set<std::size_t> kinds;
  for (const Vector& vector : vectors_of("events")) {
    CAPTURE(vector.name);
    const auto message = ipc::decode_message(vector.bytes);
    REQUIRE(message);
    const auto& event = std::get<core::Event>(*message);
    CHECK(ipc::encode_event(event) == vector.bytes);
    kinds.insert(event.index());
  }
  CHECK(kinds.size() == std::variant_size_v<core::Event>);
}

TEST_CASE("vectors: every bad frame breaks the connection") {
  ipc::RequestDecoder decoder;
  for (const Vector& vector : vectors_of("bad-frames")) {
    CAPTURE(vector.name);
    ipc::FrameDecoder frames(ipc::default_max_frame_bytes);
    frames.feed(std::as_bytes(std::span(vector.bytes.data(), vector.bytes.size())));
    const auto payload = frames.next();
    if (!payload) continue;  // the length says it all
    REQUIRE(payload->has_value());
    const auto decoded = decoder.decode(**payload, false);
    REQUIRE(std::holds_alternative<ipc::FrameError>(decoded));
    CHECK_FALSE(std::get<ipc::FrameError>(decoded).message.empty());
  }
}

TEST_CASE("vectors: every refused request names its field and keeps its id") {
  rapidjson::Document list;
  list.Parse(read_vector("refused.v1.json").c_str());
  REQUIRE(list.IsArray());
  ipc::RequestDecoder decoder;
  for (const auto& entry : list.GetArray()) {
    CAPTURE(entry["name"].GetString());
    const auto& text = entry["payload"];
    const bool admin = entry["socket"] == "admin";
    const auto decoded = decoder.decode({text.GetString(), text.GetStringLength()}, admin);
    const auto* refused = std::get_if<ipc::RefusedRequest>(&decoded);
    REQUIRE(refused != nullptr);
    CHECK(refused->failure.code == core::FailureCode::invalid_lease_request);
    CHECK(refused->failure.field == entry["field"].GetString());
    CHECK_FALSE(refused->failure.message.empty());
    ipc::RequestId id;
    if (entry["id"].IsInt64()) id = entry["id"].GetInt64();
    if (entry["id"].IsString()) id = std::string(entry["id"].GetString());
    CHECK(refused->id == id);
  }
}

}  // namespace starlease::ipc_test

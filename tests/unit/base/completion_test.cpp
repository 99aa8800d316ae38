// A completion hands its result over once and holds nothing afterwards.
#include "lib/base/completion.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace starlease::base {
namespace {

TEST_CASE("the result is handed over once, and what the callback holds is freed with the call") {
  auto kept = std::make_shared<int>(0);
  Completion<int> done([kept](int value) { *kept = value; });
  CHECK(done);
  CHECK(kept.use_count() == 2);
  done(7);
  CHECK(*kept == 7);
  CHECK(!done);
  CHECK(kept.use_count() == 1);
}

TEST_CASE("moving it on leaves nothing behind; dropping it frees what it holds") {
  auto kept = std::make_shared<int>(0);
  Completion<int> first([kept](int) {});
  {
    const Completion<int> second = std::move(first);
    CHECK(second);
    CHECK(!first);  // NOLINT(bugprone-use-after-move): that is what is looked at
    CHECK(kept.use_count() == 2);
  }
  CHECK(kept.use_count() == 1);
}

TEST_CASE("it may be replaced from inside its own call") {
  int calls = 0;
  Completion<int> done;
  done = Completion<int>([&](int) {
    ++calls;
    done = Completion<int>([&](int) { ++calls; });
  });
  done(1);
  CHECK(done);
  done(2);
  CHECK(calls == 2);
}

}  // namespace
}  // namespace starlease::base

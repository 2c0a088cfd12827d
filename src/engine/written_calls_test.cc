// engine/written_calls_test.cc: previews of calls that a model is still writing.
#include "engine/written_calls.h"

#include <doctest/doctest.h>

namespace agentrt::engine {

using schema::kWrittenPreviewBytes;

TEST_CASE("a call grows piece by piece, and only changed calls are taken") {
  WrittenCalls calls(nullptr);
  CHECK_FALSE(calls.has_news());
  calls.add(0, "write_file", R"({"path":"a.cc",)");
  calls.add(1, "shell", "");
  REQUIRE(calls.has_news());
  auto taken = calls.take();
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].name == "write_file");
  CHECK(taken[0].preview == R"({"path":"a.cc",)");
  CHECK(taken[0].bytes == 15);
  CHECK(taken[1].bytes == 0);
  CHECK_FALSE(calls.has_news());
  calls.add(1, "shell", "{}");
  taken = calls.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].number == 1);
}

TEST_CASE("the preview is readable text of bounded size, and never ends within an escape") {
  WrittenCalls calls(nullptr);
  calls.add(0, "write_file", R"({"content":"a\nb\u00e9\)");
  CHECK(calls.take().at(0).preview == "{\"content\":\"a\nb\u00e9");
  calls.add(0, "write_file", "n" + std::string(10'000, 'x'));
  const auto taken = calls.take();
  CHECK(taken.at(0).preview.size() == kWrittenPreviewBytes);
  CHECK(taken.at(0).bytes == 10'024);
}

TEST_CASE("a secret is not shown, however it is escaped or cut") {
  const policy::Redactor redactor({{"KEY", "hunter2\"and\nmore"}});
  WrittenCalls calls(&redactor);
  calls.add(0, "shell", R"({"command":"echo hunter2\"a)");
  CHECK(calls.take().at(0).preview == R"({"command":"echo )");
  calls.add(0, "shell", R"(nd\nmore now"})");
  const std::string preview = calls.take().at(0).preview;
  CHECK_FALSE(preview.contains("hunter2"));
  CHECK(preview.contains(" now"));
}

TEST_CASE("pieces that do not follow the ones before are ignored") {
  WrittenCalls calls(nullptr);
  calls.add(3, "shell", "x");
  calls.add(0, "", "x");
  CHECK_FALSE(calls.has_news());
}

}  // namespace agentrt::engine

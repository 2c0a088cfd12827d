// outputs/item_lines_test.cc: tests how the items of a job are checked and read.
#include "outputs/item_lines.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace agentrt::outputs {
namespace {

using namespace schema;

std::string refusal_of(std::string_view text) {
  ItemCheck check;
  if (auto added = check.add(text); !added) return added.error().message;
  auto count = check.finish();
  return count ? fmt::format("{} items", *count) : count.error().message;
}

TEST_CASE("items: the input is found exactly as it was written") {
  const std::string text = R"({ "jobItemId" : "a" , "input" : {"x": "}\"",  "y":[1, 2.50]} })";
  const auto line = read_item_line(text, 3, 100);
  REQUIRE(line);
  CHECK(line->id.text() == "a");
  CHECK(line->line == 3);
  CHECK(text.substr(line->offset - 100, line->size) == R"({"x": "}\"",  "y":[1, 2.50]})");
  CHECK(line->next == 100 + text.size() + 1);
  for (const char* input : {"1", "-2.5e3", "null", "\"a\\\\\"", "[]", "true"}) {
    const std::string plain = fmt::format(R"({{"input":{}}})", input);
    const auto found = read_item_line(plain, 7, 0);
    REQUIRE(found);
    CHECK(plain.substr(found->offset, found->size) == input);
    CHECK(found->id.text() == "7");
  }
}

TEST_CASE("items: a bad line is named with its number and reason") {
  CHECK(refusal_of("{\"input\":1}\n{\"input\":2}") == "2 items");
  CHECK(refusal_of("{\"input\":1}\n{\"input\":2}\n") == "2 items");
  CHECK(refusal_of("") == "expected at least one item");
  CHECK(refusal_of("{\"input\":1}\n\n{\"input\":2}\n") == "line 2: it is empty");
  CHECK(refusal_of("{\"input\":1}\nnot json\n").starts_with("line 2: "));
  CHECK(refusal_of("[1]\n").starts_with("line 1: expected an object"));
  CHECK(refusal_of("{\"inputs\":1}\n").starts_with("line 1: "));
  CHECK(
      refusal_of("{\"input\":1,\"jobItemId\":\"a b\"}\n").starts_with("line 1: jobItemId: an id"));
  CHECK(refusal_of("{\"jobItemId\":\"x\",\"input\":1}\n{\"jobItemId\":\"x\",\"input\":1}\n")
            .starts_with("line 2: its jobItemId x is also that of line 1"));
  CHECK(refusal_of("{\"jobItemId\":\"2\",\"input\":1}\n{\"input\":1}\n")
            .starts_with("line 2: its jobItemId 2 is also that of line 1"));
}

TEST_CASE("items: lines may arrive in any pieces, and continue after a cursor") {
  std::string text;
  for (int i = 1; i <= 20; ++i) text += fmt::format("{{\"input\":\"item {}\"}}\n", i);
  for (std::size_t size : {1u, 7u, 64u}) {
    ItemCheck check;
    for (std::size_t at = 0; at < text.size(); at += size)
      REQUIRE(check.add(std::string_view(text).substr(at, size)));
    CHECK(*check.finish() == 20);
  }
  JobCursor cursor;
  std::size_t read = 0;
  while (cursor.offset < text.size()) {
    const std::string_view piece = std::string_view(text).substr(cursor.offset, 50);
    const auto lines = item_lines(piece, cursor, cursor.offset + piece.size() == text.size(), 2);
    REQUIRE(lines);
    REQUIRE(!lines->empty());
    for (const JobLine& line : *lines) {
      ++read;
      CHECK(text.substr(line.offset, line.size) == fmt::format("\"item {}\"", read));
    }
    cursor = {lines->back().line, lines->back().next};
  }
  CHECK(read == 20);
}

TEST_CASE("items: inline items become lines") {
  const std::vector<JobItemInput> items{{JobItemId{"a"}, Json{"1"}}, {std::nullopt, Json{"{}"}}};
  CHECK(to_lines(items) == "{\"jobItemId\":\"a\",\"input\":1}\n{\"input\":{}}\n");
}

}  // namespace
}  // namespace agentrt::outputs

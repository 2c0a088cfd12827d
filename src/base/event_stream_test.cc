// base/event_stream_test.cc: events are parsed correctly however their bytes are split into chunks.
#include "base/event_stream.h"

#include <doctest/doctest.h>

namespace agentrt {
namespace {

std::vector<StreamEvent> parse(std::string_view text) {
  EventStreamParser parser;
  return *parser.feed(text);
}

TEST_CASE("an event has an id, a type and data") {
  const std::vector<StreamEvent> expected = {{"7", "turn.started", "{\"a\":1}"}};
  CHECK(parse("id: 7\nevent: turn.started\ndata: {\"a\":1}\n\n") == expected);
}

TEST_CASE("CRLF, CR and LF all end a line") {
  const std::vector<StreamEvent> expected = {{"1", "message", "a"}, {"2", "message", "b"}};
  CHECK(parse("id: 1\ndata: a\n\nid: 2\ndata: b\n\n") == expected);
  CHECK(parse("id: 1\r\ndata: a\r\n\r\nid: 2\r\ndata: b\r\n\r\n") == expected);
  CHECK(parse("id: 1\rdata: a\r\rid: 2\rdata: b\r\r") == expected);
}

TEST_CASE("comments and unknown fields are skipped") {
  const std::vector<StreamEvent> expected = {{"", "message", "x"}};
  CHECK(parse(": ok\n\nretry: 10\ncolour: blue\ndata: x\n: more\n\n") == expected);
}

TEST_CASE("data lines are joined by a newline and one space after the colon is dropped") {
  const std::vector<StreamEvent> expected = {{"", "message", "one\n two\n\nend"}};
  CHECK(parse("data:one\ndata:  two\ndata\ndata: end\n\n") == expected);
}

TEST_CASE("an event without data is not given out and its type does not leak into the next") {
  const std::vector<StreamEvent> expected = {{"3", "message", "x"}};
  CHECK(parse("id: 3\nevent: lost\n\ndata: x\n\n") == expected);
}

TEST_CASE("an event that is not ended by an empty line is not given out") {
  CHECK(parse("data: x\n").empty());
}

TEST_CASE("a byte order mark at the beginning is skipped") {
  const std::vector<StreamEvent> expected = {{"", "message", "x"}};
  CHECK(parse("\xEF\xBB\xBF"
              "data: x\n\n") == expected);
}

TEST_CASE("bytes may be split anywhere") {
  const std::string text =
      ": hi\r\nid: 1\r\nevent: e\r\ndata: \xC3\xA9\r\ndata: z\r\n\r\ndata: y\r\n\r\n";
  const auto expected = parse(text);
  REQUIRE(expected.size() == 2);
  for (std::size_t size = 1; size < text.size(); ++size) {
    EventStreamParser parser;
    std::vector<StreamEvent> got;
    for (std::size_t at = 0; at < text.size(); at += size)
      for (auto& event : *parser.feed(std::string_view(text).substr(at, size)))
        got.push_back(event);
    CHECK(got == expected);
  }
}

TEST_CASE("an endless event is refused instead of filling the memory") {
  EventStreamParser parser;
  const std::string piece(1 << 20, 'x');
  Result<std::vector<StreamEvent>> fed;
  REQUIRE(parser.feed("data: "));
  for (int i = 0; i < 20 && fed; ++i) fed = parser.feed(piece);
  REQUIRE(!fed);
  CHECK(fed.error().code == Code::too_large);
}

TEST_CASE("a stream says where to go on and how long to wait before") {
  EventStreamParser parser;
  CHECK(parser.feed("id: a7\nretry: 1500\ndata:\n\nretry: soon\n\n").has_value());
  CHECK(parser.last_id() == "a7");
  CHECK(parser.retry_ms() == 1500);
}

}  // namespace
}  // namespace agentrt

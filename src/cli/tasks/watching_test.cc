// cli/tasks/watching_test.cc: tests what --watch writes.
#include "cli/tasks/watching.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace agentrt::cli {

TEST_CASE("watching: a text that is too high for the terminal is cut, and its end is counted") {
  WatchedText watched;
  std::string text;
  for (int i = 1; i <= 30; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string out = watched.show(text, {80, 10});
  CHECK(std::ranges::count(out, '\n') == 8);  // nine rows
  CHECK(out.contains("line 8"));
  CHECK_FALSE(out.contains("line 9"));
  CHECK(out.contains("… 22 more lines"));
}

TEST_CASE("watching: only changes are written, and a command that is too wide is folded") {
  WatchedText watched;
  CHECK_FALSE(watched.show("one\ntwo\n", {20, 10}).empty());
  CHECK(watched.show("one\ntwo\n", {20, 10}).empty());
  const std::string wide = watched.show("agentrt call retry_task now\n", {20, 10});
  CHECK(wide.contains("agentrt call retry_"));
  CHECK(wide.contains("task now"));
  CHECK(wide.contains("\x1b[1A"));  // to the first of the two lines before
}

TEST_CASE("watching: after a resize the screen is cleared, because the rows may have moved") {
  WatchedText watched;
  watched.show("one\n", {80, 10});
  CHECK(watched.show("one\n", {40, 10}).contains("\x1b[H\x1b[J"));
  CHECK(watched.end() == "\r\n");
  CHECK(WatchedText().end().empty());
}

TEST_CASE("watching: in a pipe each object has a line when it is new or changes") {
  WatchedLines printed;
  CHECK(printed.changed({{"a", "a 1\n"}, {"b", "b 1\n"}}) == "a 1\nb 1\n");
  CHECK(printed.changed({{"a", "a 1\n"}, {"b", "b 2\n"}}) == "b 2\n");
  CHECK(printed.changed({{"b", "b 2\n"}}).empty());
}

}  // namespace agentrt::cli

#include "cli/chat/frame.h"

#include <doctest/doctest.h>

using namespace agentrt::cli;

namespace {

std::size_t cells(std::string_view styled) {
  std::string plain;
  for (std::size_t i = 0; i < styled.size(); ++i) {
    if (styled[i] == '\x1b') {
      i = styled.find('m', i);
      continue;
    }
    plain += styled[i];
  }
  return width_of(plain);
}

FrameParts full() {
  FrameParts parts;
  parts.open = std::string(300, 'o');
  parts.running = {"output one", "output two", "running a command that has a long name"};
  parts.queue = {"queued 1: do this", "queued 2: do that"};
  parts.mark = "\x1b[36m>\x1b[0m ";
  parts.mark_cells = 2;
  parts.input = "a question\nwith 日本語 in its second line";
  parts.cursor = parts.input.size();
  parts.below = {"choice one", "choice two", "choice three"};
  parts.status = "\x1b[2mmodel · mode · sandbox · 12% · 3 queued\x1b[0m";
  return parts;
}

}  // namespace

TEST_CASE("a frame fits every terminal") {
  for (std::size_t columns = 1; columns < 120; ++columns)
    for (std::size_t rows = 1; rows < 30; ++rows) {
      const Frame frame = lay_out(full(), {columns, rows});
      REQUIRE(frame.rows.size() <= std::max<std::size_t>(rows, 2));
      REQUIRE(frame.cursor_row < frame.rows.size());
      for (const std::string& row : frame.rows)
        REQUIRE(cells(row) <= std::max<std::size_t>(columns, 4) - 1);
      REQUIRE(frame.cursor_column < std::max<std::size_t>(columns, 4));
    }
}

TEST_CASE("the rows are in order and the cursor is in the input") {
  const Frame frame = lay_out(full(), {80, 40});
  REQUIRE(frame.rows.size() == 4 + 3 + 2 + 2 + 3 + 1);
  CHECK(frame.rows[7] == "queued 1: do this");
  CHECK(frame.rows[9] == "\x1b[36m>\x1b[0m a question");
  CHECK(frame.rows[10] == "  with 日本語 in its second line");
  CHECK(frame.cursor_row == 10);
  CHECK(frame.cursor_column == 32);
}

TEST_CASE("a long input shows the rows around the cursor") {
  FrameParts parts;
  parts.mark = "> ";
  parts.mark_cells = 2;
  for (int i = 0; i < 30; ++i) parts.input += std::to_string(i) + "\n";
  parts.cursor = 0;
  Frame frame = lay_out(parts, {80, 40});
  CHECK(frame.rows.size() == kInputRowsMax + 1);
  CHECK(frame.rows[0] == "> 0");
  parts.cursor = parts.input.size();
  frame = lay_out(parts, {80, 40});
  CHECK(frame.rows[kInputRowsMax - 2] == "  29");
  CHECK(frame.cursor_row == kInputRowsMax - 1);
}

TEST_CASE("a styled text is folded with its colours") {
  const auto rows = fold("ab\x1b[1mcdef\x1b[0mgh", 3);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == "ab\x1b[1mc\x1b[0m");
  CHECK(rows[1] == "\x1b[1mdef\x1b[0m");
  CHECK(rows[2] == "gh");
  CHECK(fit_styled("\x1b[2mabcdef\x1b[0m", 4) == "\x1b[2mabc…\x1b[0m");
  CHECK(fit_styled("abc", 4) == "abc");
}

TEST_CASE("a canvas draws only what changed, and removes all of it") {
  Canvas canvas;
  Frame frame;
  frame.rows = {"one", "> two", "status"};
  frame.cursor_row = 1;
  frame.cursor_column = 2;
  const std::string first = canvas.draw("hello\n", frame);
  CHECK(first.contains("hello\r\none\x1b[K\r\n> two\x1b[K\r\nstatus\x1b[K\x1b[J\r\x1b[1A\x1b[2C"));
  CHECK(canvas.draw("", frame).empty());
  const std::string second = canvas.draw("more\n", frame);
  CHECK(second.contains("\r\x1b[1A\x1b[Jmore\r\none"));
  CHECK(canvas.erase() == "\r\x1b[1A\x1b[J");
  CHECK(canvas.erase().empty());
  CHECK(canvas.redraw("x\n", frame).contains("\x1b[H\x1b[Jx\r\none"));
}

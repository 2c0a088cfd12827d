#include "cli/chat/editor.h"

#include <doctest/doctest.h>

using namespace agentrt::cli;

namespace {

Editor made() {
  auto editor = Editor::make();
  REQUIRE(editor);
  return std::move(*editor);
}

void type(Editor& editor, std::string_view bytes) {
  KeyReader reader;
  for (const KeyPress& press : reader.feed(bytes)) editor.press(press);
}

}  // namespace

TEST_CASE("the editor types, moves, deletes and yanks, in any script") {
  Editor editor = made();
  type(editor, "hello world");
  CHECK(editor.text() == "hello world");
  CHECK(editor.cursor() == 11);
  type(editor, "\x01é日🙂");
  CHECK(editor.text() == "é日🙂hello world");
  CHECK(editor.cursor() == 9);
  type(editor, "\x1b[F\x17");
  CHECK(editor.text() == "é日🙂hello ");
  type(editor, "\x19\x19");
  CHECK(editor.text() == "é日🙂hello worldworld");
  type(editor, "\x1b[H\x1b[3~\x1b[C\x7f");
  CHECK(editor.text() == "🙂hello worldworld");
  type(editor, "\x15");
  CHECK(editor.empty());
}

TEST_CASE("the editor holds several lines and moves between them") {
  Editor editor = made();
  editor.set("first\nse\nthird");
  CHECK(editor.cursor() == 14);
  CHECK(editor.move_line(-1));
  CHECK(editor.cursor() == 8);
  CHECK(editor.move_line(-1));
  CHECK(editor.cursor() == 2);
  CHECK_FALSE(editor.move_line(-1));
  type(editor, "X");
  CHECK(editor.text() == "fiXrst\nse\nthird");
  CHECK(editor.move_line(1));
  CHECK(editor.move_line(1));
  CHECK_FALSE(editor.move_line(1));
  editor.set("");
  CHECK(editor.empty());
  type(editor, "again");
  CHECK(editor.text() == "again");
  editor.erase_before(2);
  CHECK(editor.text() == "aga");
}

TEST_CASE("a control key that libedit would wait on does not hang") {
  Editor editor = made();
  for (char c = 1; c < 0x20; ++c) {
    if (c == 0x1b) continue;
    editor.press({Key::control, std::string(1, c)});
  }
  editor.set("");
  type(editor, "alive");
  CHECK(editor.text() == "alive");
}

#include "cli/chat/keys.h"

#include <doctest/doctest.h>

using namespace agentrt::cli;

namespace {

std::vector<KeyPress> pressed(std::string_view bytes) {
  KeyReader reader;
  auto out = reader.feed(bytes);
  for (KeyPress& press : reader.idle()) out.push_back(std::move(press));
  return out;
}

// The same bytes, one at a time.
std::vector<KeyPress> pressed_slowly(std::string_view bytes) {
  KeyReader reader;
  std::vector<KeyPress> out;
  for (const char c : bytes)
    for (KeyPress& press : reader.feed({&c, 1})) out.push_back(std::move(press));
  for (KeyPress& press : reader.idle()) out.push_back(std::move(press));
  return out;
}

}  // namespace

TEST_CASE("characters, control characters and escape sequences are decoded as keys") {
  using P = std::vector<KeyPress>;
  for (const auto read : {pressed, pressed_slowly}) {
    CHECK(read("aé日") == P{{Key::text, "a"}, {Key::text, "é"}, {Key::text, "日"}});
    CHECK(read("\r\n\t\x7f\x03\x04") == P{{Key::enter},
                                          {Key::enter},
                                          {Key::tab},
                                          {Key::backspace},
                                          {Key::interrupt},
                                          {Key::leave}});
    CHECK(read("\x1b[A\x1bOB\x1b[1;5C\x1b\r\x1b[3~") ==
          P{{Key::up}, {Key::down}, {Key::word_right}, {Key::newline}, {Key::remove}});
    CHECK(read("\x1b") == P{{Key::escape}});
    CHECK(read("\x01") == P{{Key::control, "\x01"}});
    CHECK(read("\x1b[I\x1b[O") == P{{Key::focus_in}, {Key::focus_out}});
    CHECK(read("\x1b[99;99xq") == P{{Key::text, "q"}});
  }
}

TEST_CASE("invalid UTF-8 becomes a replacement character") {
  CHECK(pressed("a\xff\xc3(").size() == 4);
  CHECK(pressed("\xff")[0] == KeyPress{Key::text, "\xEF\xBF\xBD"});
  CHECK(pressed("\xe6\x97")[0] == KeyPress{Key::text, "\xEF\xBF\xBD"});
}

TEST_CASE("a paste is one press, with its line breaks, and contains no control characters") {
  const std::string bytes = "\x1b[200~one\r\ntwo\rthree\x1b[31m\x03\x1b[201~x";
  for (const auto read : {pressed, pressed_slowly}) {
    const auto presses = read(bytes);
    REQUIRE(presses.size() == 2);
    CHECK(presses[0].key == Key::paste);
    CHECK(presses[0].text == "one\ntwo\nthree[31m");
    CHECK(presses[1] == KeyPress{Key::text, "x"});
  }
}

TEST_CASE("a paste that is too long is counted and dropped") {
  KeyReader reader;
  CHECK(reader.feed("\x1b[200~").empty());
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 10; ++i) CHECK(reader.feed(piece).empty());
  const auto presses = reader.feed("\x1b[201~");
  REQUIRE(presses.size() == 1);
  CHECK(presses[0].text.empty());
  CHECK(presses[0].bytes == 10 << 20);
  CHECK(reader.waits_ms() == -1);
}

TEST_CASE("a paste without an end is complete after a pause") {
  KeyReader reader;
  CHECK(reader.feed("\x1b[200~abc").empty());
  CHECK(reader.waits_ms() == kPastePauseMs);
  const auto presses = reader.idle();
  REQUIRE(presses.size() == 1);
  CHECK(presses[0].text == "abc");
  CHECK(reader.feed("d") == std::vector<KeyPress>{{Key::text, "d"}});
}

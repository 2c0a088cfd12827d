// cli/views/terminal_test.cc: terminal output is escaped and fits the width.
#include "cli/views/terminal.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

TEST_CASE("safe_text keeps text and writes out what steers a terminal") {
  CHECK(safe_text("a\n\tb é 日本 🙂") == "a\n\tb é 日本 🙂");
  CHECK(safe_text("\x1b[31mred") == "\\x1b[31mred");
  CHECK(safe_text("title\x1b]0;x\x07\b\r\x7f") == "title\\x1b]0;x\\x07\\x08\\x0d\\x7f");
  CHECK(safe_text("c1 \xC2\x9B"
                  "31m nbsp\xC2\xA0.") == "c1 \\xc2\\x9b31m nbsp\xC2\xA0.");
  CHECK(safe_text("rtl \xE2\x80\xAE \xE2\x81\xA6") == "rtl \\xe2\\x80\\xae \\xe2\\x81\\xa6");
  CHECK(safe_text("broken \xC3") == "broken \\xc3");
  CHECK(safe_text("broken \xE2\x1b[2J") == "broken \\xe2\\x1b[2J");
  CHECK(safe_text(std::string_view("nul\0", 4)) == "nul\\x00");
  CHECK(safe_text("👨‍👩‍👧 می‌خواهم") ==
        "👨‍👩‍👧 می‌خواهم");
}

TEST_CASE("visible writes out every character that is not seen") {
  struct Case {
    const char* character;
    const char* spelled;
  };
  for (const auto& [character, spelled] :
       {Case{"\xE2\x80\x8B", "\\xe2\\x80\\x8b"}, Case{"\xE2\x80\x8C", "\\xe2\\x80\\x8c"},
        Case{"\xE2\x80\x8D", "\\xe2\\x80\\x8d"}, Case{"\xE2\x80\x8E", "\\xe2\\x80\\x8e"},
        Case{"\xE2\x80\x8F", "\\xe2\\x80\\x8f"}, Case{"\xE2\x81\xA0", "\\xe2\\x81\\xa0"},
        Case{"\xEF\xBB\xBF", "\\xef\\xbb\\xbf"}, Case{"\xC2\xAD", "\\xc2\\xad"},
        Case{"\xD8\x9C", "\\xd8\\x9c"}, Case{"\xF3\xA0\x81\xA1", "\\xf3\\xa0\\x81\\xa1"},
        Case{"\xF3\xA0\x84\x80", "\\xf3\\xa0\\x84\\x80"}, Case{"\xE2\x80\xAE", "\\xe2\\x80\\xae"},
        Case{"\xE2\x81\xA9", "\\xe2\\x81\\xa9"}, Case{"\xE2\x80\xA8", "\\xe2\\x80\\xa8"},
        Case{"\xE3\x85\xA4", "\\xe3\\x85\\xa4"}, Case{"\x1b", "\\x1b"}}) {
    const std::string text = std::string("rm ") + character + "x";
    CHECK(visible(text) == std::string("rm ") + spelled + "x");
    CHECK(one_line(text) == std::string("rm ") + spelled + "x");
  }
  CHECK(visible("é 日本 🙂\n\t") == "é 日本 🙂\n\t");
  CHECK(visible_line("a\nb\tc\x1b") == "a\\nb\\tc\\x1b");
}

TEST_CASE("visible_json stays the same value") {
  CHECK(visible_json("{\n  \"a\xC2\x9B\": \"\xE2\x80\xAE\xF3\xA0\x81\xA1é\"\n}") ==
        "{\n  \"a\\u009b\": \"\\u202e\\udb40\\udc61é\"\n}");
}

TEST_CASE("one_line puts a text on one line") {
  CHECK(one_line("  a\n\nb\t c  ") == "a b c");
  CHECK(one_line("\x1b\n") == "\\x1b");
}

TEST_CASE("fit counts characters and marks what was cut") {
  CHECK(fit("héllo", 5) == "héllo");
  CHECK(fit("héllo", 4) == "hél…");
  CHECK(fit("héllo", 1) == "…");
  CHECK(fit("x", 0) == "");
}

TEST_CASE("colour is only there when it is on") {
  CHECK(paint("x", Paint::red, Colour::off) == "x");
  CHECK(paint("x", Paint::red, Colour::on) == "\x1b[31mx\x1b[0m");
  CHECK(paint("", Paint::red, Colour::on) == "");
}

TEST_CASE("a table aligns its columns and cuts only the last") {
  const Table table{{"ID", "WHAT"}, {{"a", "one"}, {"longer", "a very long text indeed"}}};
  CHECK(render(table, 20, Colour::off) ==
        "ID      WHAT\n"
        "a       one\n"
        "longer  a very long…\n");
}

TEST_CASE("durations and ages are said as a person would") {
  CHECK(spoken_duration(850) == "850 ms");
  CHECK(spoken_duration(3'250) == "3.2 s");
  CHECK(spoken_duration(250'000) == "4 min 10 s");
  const Timestamp now{1'800'000'000'000};
  CHECK(spoken_age(now, now) == "just now");
  CHECK(spoken_age(now + -300'000, now) == "5 min ago");
  CHECK(spoken_age(now + -7'200'000, now) == "2 h ago");
  CHECK(spoken_age(now + -100'000'000, now) == "yesterday");
  CHECK(spoken_age(now + -300'000'000, now) == "3 days ago");
  CHECK(spoken_age(Timestamp{0}, now) == "1970-01-01");
}

TEST_CASE("text breaks at spaces, and nothing of it is lost") {
  const auto joined = [](const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += line;
    return out;
  };
  CHECK(wrap("", 5) == std::vector<std::string>{""});
  CHECK(wrap("one two three", 0) == std::vector<std::string>{"one two three"});
  CHECK(wrap("one two three", 8) == std::vector<std::string>{"one two ", "three"});
  CHECK(wrap("averylongword x", 5) == std::vector<std::string>{"avery", "longw", "ord x"});
  CHECK(wrap("中文中文", 5) == std::vector<std::string>{"中文", "中文"});
  for (const std::string text : {"a  b   c", "   lead", "trail    ", "x averyverylongword  y"})
    for (std::size_t width = 1; width < 12; ++width) {
      CHECK(joined(wrap(text, width)) == text);
      for (const std::string& line : wrap(text, width)) CHECK(width_of(line) <= width);
    }
}

}  // namespace
}  // namespace agentrt::cli

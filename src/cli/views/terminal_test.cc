// cli/views/terminal_test.cc: what reaches a terminal is text, and fits.
#include "cli/views/terminal.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

TEST_CASE("printable keeps text, newlines and tabs and drops everything that steers a terminal") {
  CHECK(printable("a\n\tb é 日本 🙂") == "a\n\tb é 日本 🙂");
  CHECK(printable("\x1b[31mred\x1b[0m") == "[31mred[0m");
  CHECK(printable("title\x1b]0;x\x07 back\b\r del\x7f") == "title]0;x back del");
  CHECK(printable("c1 \xC2\x9B"
                  "31m nbsp\xC2\xA0.") == "c1 31m nbsp\xC2\xA0.");
  CHECK(printable("rtl \xE2\x80\xAE"
                  "evil \xE2\x81\xA6 end") == "rtl evil  end");
  CHECK(printable("broken \xC3") == "broken ");
  CHECK(printable(std::string_view("nul\0", 4)) == "nul");
}

TEST_CASE("one_line puts a text on one line") {
  CHECK(one_line("  a\n\nb\t c  ") == "a b c");
  CHECK(one_line("\x1b\n") == "");
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

}  // namespace
}  // namespace agentrt::cli

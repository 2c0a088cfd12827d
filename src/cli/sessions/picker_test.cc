#include "cli/sessions/picker.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using Outcome = PickerList::Outcome;

schema::SessionSummary session(std::string id, std::string cwd, std::int64_t updated,
                               std::string preview) {
  schema::SessionSummary out;
  out.session_id = SessionId(std::move(id));
  out.cwd = std::move(cwd);
  out.updated_at = {updated};
  out.preview = std::move(preview);
  return out;
}

PickerList three() {
  return PickerList({{SessionId("a"), "fix the parser", "just now", "", ""},
                     {SessionId("b"), "write docs", "5 min ago", "waiting permission", ""},
                     {SessionId("c"), "Parser tests", "2 days ago", "", "/srv/other"}});
}

// The lines of a frame without escape sequences.
std::vector<std::string> screen(const std::string& frame) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] == '\x1b') {
      ++i;
      while (i + 1 < frame.size() && !(frame[i + 1] >= '@' && frame[i + 1] <= '~')) ++i;
      ++i;
    } else if (frame[i] == '\n') {
      lines.emplace_back();
    } else if (frame[i] != '\r') {
      lines.back() += frame[i];
    }
  }
  return lines;
}

std::string chosen(const PickerList& list) {
  return list.selected() == nullptr ? "none" : list.selected()->session.text();
}

}  // namespace

TEST_CASE("sessions of this folder come first, then by last use; archived ones are left out") {
  auto gone = session("gone", "/w", 9, "x");
  gone.archived = true;
  const auto rows = picker_rows({session("old", "/w", 1, "one"), session("else", "/x", 5, "two"),
                                 gone, session("new", "/w", 3, "a\nb")},
                                "/w", {10});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].session.text() == "new");
  CHECK(rows[0].what == "a b");
  CHECK(rows[0].where.empty());
  CHECK(rows[1].session.text() == "old");
  CHECK(rows[2].where == "/x");
}

TEST_CASE("typed words filter the list, in any case, and every word must occur") {
  PickerList list = three();
  CHECK(list.press("pars") == Outcome::open);
  CHECK(list.matching().size() == 2);
  CHECK(list.press("er t") == Outcome::open);
  CHECK(chosen(list) == "a");  // "the" contains a t
  CHECK(list.press("ests") == Outcome::open);
  CHECK(chosen(list) == "c");
  CHECK(list.press("\x15/SRV") == Outcome::open);
  CHECK(chosen(list) == "c");
  CHECK(list.press("zzz") == Outcome::open);
  CHECK(chosen(list) == "none");
  CHECK(list.press("\r") == Outcome::open);
  CHECK(list.press("\x7f\x7f\x7f\r") == Outcome::chosen);
  CHECK(chosen(list) == "c");
}

TEST_CASE("arrows move within the list, and their sequences may arrive in pieces") {
  PickerList list = three();
  CHECK(list.press("\x1b[B") == Outcome::open);
  CHECK(chosen(list) == "b");
  CHECK(list.press("\x1b") == Outcome::open);
  CHECK(list.undecided());
  CHECK(list.press("[") == Outcome::open);
  CHECK(list.press("B\x1bOB\x1b[6~") == Outcome::open);
  CHECK(chosen(list) == "c");
  CHECK(list.press("\x10") == Outcome::open);
  CHECK(chosen(list) == "b");
  CHECK(list.press("\x1b[5~\x1b[A") == Outcome::open);
  CHECK(chosen(list) == "a");
  CHECK(list.press("\x1b[1;5C") == Outcome::open);
  CHECK(list.press("\x1b") == Outcome::open);
  CHECK(list.press_escape() == Outcome::left);
  CHECK(list.press("\x03") == Outcome::left);
}

TEST_CASE("characters are whole, hostile ones are ignored, and the search is bounded") {
  PickerList list({{SessionId("a"), "größer", "now", "", ""}});
  CHECK(list.press("\xc3") == Outcome::open);
  CHECK(list.press("\xb6") == Outcome::open);
  CHECK(chosen(list) == "a");
  CHECK(list.press("\x7f") == Outcome::open);
  CHECK(screen(list.frame(80, 24, Colour::off))[1] == "search: ");
  CHECK(list.press("\xe2\x80\x8b\x01\xff") == Outcome::open);
  CHECK(screen(list.frame(80, 24, Colour::off))[1] == "search: ");
  CHECK(list.press(std::string(100'000, 'x')) == Outcome::open);
  CHECK(screen(list.frame(400, 24, Colour::off))[1].size() == 8 + PickerList::kSearchBytesMax);
}

TEST_CASE("no line is wider than the terminal, and the selected row is on the screen") {
  std::vector<PickerRow> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({SessionId("s" + std::to_string(i)), "prompt 漢字 number " + std::to_string(i),
                    "5 min ago", "running", "/a/very/long/path/of/another/folder"});
  PickerList list(std::move(rows));
  for (int i = 0; i < 60; ++i) CHECK(list.press("\x1b[B") == Outcome::open);
  for (const std::size_t columns : {1UL, 5UL, 20UL, 49UL, 50UL, 80UL, 200UL})
    for (const std::size_t height : {1UL, 3UL, 4UL, 24UL}) {
      const auto lines = screen(list.frame(columns, height, Colour::on));
      CHECK(lines.size() <= std::max(height, 4UL));
      bool shown = false;
      for (const std::string& line : lines) {
        CHECK(width_of(line) <= columns);
        if (line.starts_with("> ")) shown = true;
      }
      CHECK((shown || columns < 5));
    }
  const auto wide = screen(list.frame(80, 24, Colour::off));
  CHECK(wide[0] == "Sessions  100 of 100");
  CHECK(wide.back() == "↑↓ choose · Enter opens · Esc leaves");
}

TEST_CASE("the plain list is numbered") {
  CHECK(three().numbered(2, 80) ==
        "  1  just now     fix the parser\n  2  5 min ago    write docs  waiting permission\n");
  CHECK(three().numbered(9, 20) == "  1  fix the parser\n  2  write docs\n  3  Parser tests\n");
}

}  // namespace agentrt::cli

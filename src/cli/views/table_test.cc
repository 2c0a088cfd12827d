#include "cli/views/table.h"

#include <doctest/doctest.h>

#include "cli/views/markdown.h"
#include "cli/views/terminal.h"

using namespace agentrt::cli;

namespace {

std::string plain(std::string_view styled) {
  std::string out;
  for (std::size_t i = 0; i < styled.size(); ++i) {
    if (styled[i] == '\x1b')
      i = styled.find('m', i);
    else
      out += styled[i];
  }
  return out;
}

const std::vector<std::string> kRows = {"| name | value |", "| :- | -: |", "| `a` | 1 |",
                                        "| **日本** | 1000 |", "| x \\| y |  |"};

}  // namespace

TEST_CASE("a table has aligned columns") {
  CHECK(plain(markdown_table(kRows, 80)) ==
        "name  │ value\n"
        "──────┼──────\n"
        "a     │     1\n"
        "日本  │  1000\n"
        "x | y │\n");
}

TEST_CASE("cells that do not fit are wrapped, and nothing is lost") {
  const std::vector<std::string> rows = {"| a | b |", "|-|-|",
                                         "| some words that are long | other words here |"};
  const std::string out = plain(markdown_table(rows, 24));
  for (std::size_t from = 0; from < out.size();) {
    const std::size_t end = out.find('\n', from);
    CHECK(width_of(out.substr(from, end - from)) <= 24);
    from = end + 1;
  }
  for (const char* word : {"some", "words", "that", "are", "long", "other", "here"})
    CHECK(out.contains(word));
  CHECK(markdown_table(rows, 8) ==
        "| a | b |\n|-|-|\n| some words that are long | other words "
        "here |\n");
}

TEST_CASE("what is not a table stays as it is") {
  CHECK(markdown_table({"| only a line |"}, 80) == "| only a line |\n");
  CHECK(markdown_table({"| a |", "| b |"}, 80) == "| a |\n| b |\n");
  CHECK(markdown_table({"| a |", "|-|", "| b | too many |"}, 80) ==
        "| a |\n|-|\n| b | too many |\n");
}

TEST_CASE("tables appear when they are complete, however the text is cut") {
  const std::string text = "Before\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter | this\n";
  Markdown whole(40);
  whole.render_tables();
  const std::string expected = whole.feed(text) + whole.end_line();
  CHECK(plain(expected) == "Before\n\na │ b\n──┼──\n1 │ 2\n\nAfter | this\n");
  Markdown pieces(40);
  pieces.render_tables();
  std::string out;
  for (const char c : text) out += pieces.feed({&c, 1});
  CHECK(plain(out + pieces.end_line()) == plain(expected));
  Markdown last(40);
  last.render_tables();
  CHECK(plain(last.feed("| a | b |\n|---|---|\n| 1 | 2 |") + last.end_line()) ==
        "a │ b\n──┼──\n1 │ 2\n");
}

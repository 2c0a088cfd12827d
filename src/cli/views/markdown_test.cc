// cli/views/markdown_test.cc: rendering of Markdown, in one piece and byte by byte.
#include "cli/views/markdown.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kWidth = 30;

std::string whole(std::string_view text, std::size_t width = kWidth) {
  Markdown markdown(width);
  std::string out = markdown.feed(text);
  return out + markdown.end_line();
}

std::string in_pieces(std::string_view text, std::size_t size, std::size_t width = kWidth) {
  Markdown markdown(width);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size)
    out += markdown.feed(text.substr(at, size));
  return out + markdown.end_line();
}

// Spells colours as tags, so that cases are readable: <b>bold</>.
std::string spelled(std::string text) {
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("\x1b[0m", "</>");
  replace("\x1b[1m", "<b>");
  replace("\x1b[2m", "<dim>");
  replace("\x1b[3m", "<i>");
  replace("\x1b[4m", "<u>");
  replace("\x1b[9m", "<s>");
  replace("\x1b[36m", "<code>");
  replace("\x1b[1;3m", "<b i>");
  replace("\x1b[1;4m", "<b u>");
  replace("\x1b[1;36m", "<b code>");
  return text;
}

struct Example {
  const char* name;
  std::string_view source;
  std::string_view shown;
};

const Example kExamples[] = {
    {"plain text", "Hello there.\nAnd more.", "Hello there.\nAnd more.\n"},
    {"an empty line", "a\n\nb\n", "a\n\nb\n"},
    {"nothing", "", ""},
    {"bold", "a **b c** d", "a <b>b</> <b>c</> d\n"},
    {"bold with underscores", "__b__ d", "<b>b</> d\n"},
    {"italics", "an *i* and _j_.", "an <i>i</> and <i>j</>.\n"},
    {"bold italics", "***x***", "<b i>x</>\n"},
    {"italics in bold", "**a *b* c**", "<b>a</> <b i>b</> <b>c</>\n"},
    {"italics at the end of bold", "**a *b***", "<b>a</> <b i>b</>\n"},
    {"code in bold", "**a `b`**", "<b>a</> <b code>b</>\n"},
    {"struck out", "~~no~~ yes ~1~", "<s>no</> yes ~1~\n"},
    {"Chinese in bold", "这**重**点", "这<b>重</>点\n"},
    {"stars that are arithmetic", "2 * 3 * 4 and 2*3*4", "2 * 3 * 4 and 2*3*4\n"},
    {"names with underscores", "a snake_case_name __init__", "a snake_case_name <b>init</>\n"},
    {"a star that is never closed", "*args, **kwargs\nnext", "*args, **kwargs\nnext\n"},
    {"an escaped star", "\\*no\\* c:\\dir", "*no* c:\\dir\n"},
    {"code", "use `a  *b*` now", "use <code>a</>  <code>*b*</> now\n"},
    {"code with a backtick", "`` a`b `` x", "<code>a`b</> x\n"},
    {"a backtick that is never closed", "it`s so\nnext", "it`s so\nnext\n"},
    {"a link", "see [the *x*](http://a.b/c_d) ok",
     "see <u>the</><u> </>\x1b[3;4mx</> <dim>(http://a.b/c_d)</> ok\n"},
    {"a link to itself", "[http://a](http://a)", "<u>http://a</>\n"},
    {"brackets that are no link", "[1] and a[0](x", "[1] and a[0](x\n"},
    {"an image", "![cat](c.png)!", "<u>cat</> <dim>(c.png)</>!\n"},
    {"a heading", "## Two **words**\ntext", "<b>Two</> <b>words</>\ntext\n"},
    {"the first heading", "# Top here\n", "<b u>Top</><u> </><b u>here</>\n"},
    {"hashes that are no heading", "#1 is\n####### x", "#1 is\n####### x\n"},
    {"a list", "- one\n* two\n+ *three*", "<dim>• </>one\n<dim>• </>two\n<dim>• </><i>three</>\n"},
    {"a list in a list", "- a\n  - b", "<dim>• </>a\n  <dim>• </>b\n"},
    {"a numbered list", "1. a\n10) b\n2.5 is", "<dim>1. </>a\n<dim>10) </>b\n2.5 is\n"},
    {"a number alone", "42", "42\n"},
    {"boxes", "- [ ] a\n- [x] b\n- [c](d)",
     "<dim>☐ </>a\n<dim>☑ </>b\n<dim>• </><u>c</> <dim>(d)</>\n"},
    {"a quote", "> so **it** is\n>\n> - x",
     "<dim>│ </>so <b>it</> is\n<dim>│ </>\n<dim>│ "
     "</><dim>• </>x\n"},
    {"a rule", "a\n---\n***\n--",
     "a\n<dim>────────────────────────</>\n"
     "<dim>────────────────────────</>\n--\n"},
    {"a code block", "```cpp\nint  *a;\n\n  ` x\n```\nafter *i*",
     "<dim>┌ cpp</>\n  <code>int</>  <code>*a;</>\n\n    <code>`</> <code>x</>\n<dim>└</>\nafter "
     "<i>i</>\n"},
    {"a code block with waves", "~~~\n```\n~~~", "<dim>┌</>\n  <code>```</>\n<dim>└</>\n"},
    {"a code block that is not closed", "```\n# x", "<dim>┌</>\n  <code>#</> <code>x</>\n"},
    {"a fence that is code in a line", "```x``` y", "<code>x</> y\n"},
    {"a long line of code keeps its line", "```\n0123456789 0123456789 0123456789 0\n```",
     "<dim>┌</>\n  <code>0123456789</> <code>0123456789</> <code>0123456789</> "
     "<code>0</>\n<dim>└</>\n"},
    {"a table stays as it is", "| a | **b** |\n|---|---|\n| 0123456789 | 0123456789 | 012345 |",
     "| a | **b** |\n|---|---|\n| 0123456789 | 0123456789 | 012345 |\n"},
    {"words wrap", "0123456789 0123456789 0123456789 01", "0123456789 0123456789\n0123456789 01\n"},
    {"an item wraps under its text", "- 0123456789 0123456789 0123456789",
     "<dim>• </>0123456789 0123456789\n  0123456789\n"},
    {"a quote wraps behind its bar", "> 0123456789 0123456789 0123456789",
     "<dim>│ </>0123456789 0123456789\n<dim>│ </>0123456789\n"},
    {"a word that is longer than the line", "a 0123456789012345678901234567890123456789 b",
     "a\n0123456789012345678901234567890123456789 b\n"},
    {"wide characters count twice", "一二三四五六七八九十一二三四五六七",
     "一二三四五六七八九十一二三四五\n六七\n"},
    {"pictures count twice", "ab 🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂 c",
     "ab 🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂\n🙂 c\n"},
    {"a letter with an accent of its own", "e\xCC\x81 x", "e\xCC\x81 x\n"},
    {"escape sequences are written out", "a\x1b[2Jb \x07", "a\\x1b[2Jb \\x07\n"},
    {"an escape sequence within code", "`\x1b]0;t\x07`", "<code>\\x1b]0;t\\x07</>\n"},
    {"reversed writing is written out",
     "a\xE2\x80\xAE"
     "b",
     "a\\xe2\\x80\\xae"
     "b\n"},
    {"a byte that is no character", "a\xC3 b", "a\\xc3 b\n"},
    {"line ends of other systems", "a\r\nb\r\n", "a\nb\n"},
};

TEST_CASE("Markdown is shown as it is meant") {
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    CHECK(spelled(whole(example.source)) == example.shown);
  }
}

TEST_CASE("however the text is cut, the same is printed") {
  for (const Example& example : kExamples)
    for (const std::size_t size : {1, 2, 3, 7}) {
      CAPTURE(example.name);
      CAPTURE(size);
      CHECK(in_pieces(example.source, size) == whole(example.source));
    }
}

TEST_CASE("text made of nothing but marks is printed the same however it is cut") {
  constexpr std::string_view kPieces[] = {"*",  "**", "_",   "`",  "```",  "[",  "](", ")",
                                          "#",  "> ", "- ",  "1.", "|",    "~",  " ",  "\n",
                                          "\\", "a",  "b c", "中", "\x1b", "---"};
  std::uint32_t state = 7;
  const auto next = [&state](std::uint32_t below) {
    state = state * 1'664'525 + 1'013'904'223;
    return (state >> 16) % below;
  };
  for (int i = 0; i < 3'000; ++i) {
    std::string text;
    for (std::uint32_t n = next(40); n > 0; --n)
      text += kPieces[next(static_cast<std::uint32_t>(std::size(kPieces)))];
    CAPTURE(text);
    const std::string shown = whole(text);
    REQUIRE(in_pieces(text, 1) == shown);
    REQUIRE(std::ranges::count(shown, '\n') >= std::ranges::count(text, '\n'));
  }
}

TEST_CASE("text appears as it comes: only a word, a line's beginning or an open mark is held") {
  Markdown markdown(kWidth);
  CHECK(markdown.feed("one tw") == "one");
  CHECK(markdown.feed("o thr") == " two");
  CHECK(markdown.feed("ee\n") == " three\n");
  CHECK(markdown.feed("#") == "");
  CHECK(spelled(markdown.feed("# Head ")) == "<b>Head</>");
  CHECK(markdown.feed("x\n") == " \x1b[1mx\x1b[0m\n");
  CHECK(markdown.feed("a **b") == "a");
  CHECK(markdown.feed(" c") == "");
  CHECK(spelled(markdown.feed("** d")) == " <b>b</> <b>c</>");
}

TEST_CASE("a mark that stays open holds the text back no longer than a limit") {
  const std::string words = [] {
    std::string out;
    while (out.size() < Markdown::kHeldBytesMax) out += "word ";
    return out;
  }();
  Markdown markdown(10'000);
  CHECK(markdown.feed("*" + words.substr(0, Markdown::kHeldBytesMax - 1)) == "");
  CHECK(markdown.feed("x y").starts_with("*word word"));
}

TEST_CASE("a line that is cut off ends once, and a code block continues after it") {
  Markdown markdown(kWidth);
  CHECK(markdown.end_line() == "");
  CHECK(markdown.feed("half **op") == "half");
  CHECK(markdown.end_line() == " **op\n");
  CHECK(markdown.end_line() == "");
  (void)markdown.feed("```\na");
  CHECK(spelled(markdown.end_line()) == "<code>a</>\n");
  CHECK(spelled(markdown.feed("b\n```\n")) == "  <code>b</>\n<dim>└</>\n");
}

TEST_CASE("many marks that lead nowhere cost little") {
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "*a **b `c [d ";
  CHECK(safe_text(whole(text, 1'000'000)).size() >= text.size());
}

TEST_CASE("everything printed leaves the terminal's colours as they were") {
  for (const Example& example : kExamples) {
    Markdown markdown(kWidth);
    for (const char c : example.source) {
      const std::string piece = markdown.feed({&c, 1});
      const std::size_t last = piece.rfind('\x1b');
      CHECK((last == std::string::npos || piece.substr(last).starts_with("\x1b[0m")));
    }
  }
}

}  // namespace
}  // namespace agentrt::cli

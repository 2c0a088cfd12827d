// adapters/tools/edit_text_test.cc: tests text replacement and the messages when it fails.
#include "adapters/tools/edit_text.h"

#include <doctest/doctest.h>

namespace agentrt::adapters::tools {
namespace {

std::string edit(std::string_view bytes, std::string old_text, std::string new_text,
                 std::optional<bool> all = {}) {
  const auto out = edited(bytes, {.path = "f",
                                  .old_text = std::move(old_text),
                                  .new_text = std::move(new_text),
                                  .replace_all = all});
  return out ? *out : "! " + out.error().message;
}

}  // namespace

TEST_CASE("a text is replaced at its only place") {
  CHECK(edit("a b c", "b", "x") == "a x c");
  CHECK(edit("a b c", "b ", "") == "a c");
  CHECK(edit("\xEF\xBB\xBFhead\n", "head", "foot") ==
        "\xEF\xBB\xBF"
        "foot\n");
  CHECK(edit("no end", "end", "line end") == "no line end");
  CHECK(edit("\xff\xfe b", "b", "c") == "\xff\xfe c");
}

TEST_CASE("a text that stands at several places is counted, or replaced at each") {
  CHECK(edit("a\nb\na\n", "a", "x") ==
        "! oldText occurs in f 2 times (lines 1, 3). Include more surrounding lines, or set "
        "replaceAll.");
  CHECK(edit("a\na\na\na\na\na\n", "a", "x").contains("6 times (lines 1, 2, 3, 4, 5, …)"));
  CHECK(edit("a\nb\na\n", "a", "aa", true) == "aa\nb\naa\n");
  CHECK(edit("aaa", "aa", "b", true) == "ba");
}

TEST_CASE("line ends of the file are kept") {
  CHECK(edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") == "x\r\ny\r\nz\r\nc\r\n");
  CHECK(edit("a\r\nb\r\n", "b", "b\nc") == "a\r\nb\r\nc\r\n");
  CHECK(edit("a\r\nb\r\n", "a\r\nb", "c\r\nd") == "c\r\nd\r\n");
  CHECK(edit("a\nb\r\n", "b\r\n", "c\n") == "a\nc\n");
  CHECK(edit("a\r\nb\nc\n", "a\nb", "x")
            .starts_with("! oldText occurs in f at line 1 with different"));
}

TEST_CASE("what is not there is said to be elsewhere, if it is but for white space") {
  CHECK(edit("x\n\tif (a) {\n", "  if (a) {", "y") ==
        "! oldText does not occur in f. Line 2 differs only in white space: read that part again "
        "and copy it exactly.");
  CHECK(edit("abc", "abd", "y") ==
        "! oldText does not occur in f; read the file again and copy the text exactly.");
  CHECK(edit("", "a", "b").starts_with("! oldText does not occur in f;"));
  CHECK(edit("caf\xe9 x", "caf\xEF\xBF\xBD", "tea") ==
        "! oldText does not occur in f. It contains U+FFFD, which stands for a byte that is not "
        "UTF-8 and cannot be matched: edit the text before or after it.");
  CHECK(edit("café x", "caf\xEF\xBF\xBD", "tea").starts_with("! oldText does not occur in f;"));
}

TEST_CASE("an edit that changes nothing, or too much, is refused") {
  CHECK(edit("a", "a", "a") == "! oldText and newText are the same; nothing was changed.");
  CHECK(edit("a", "", "b").starts_with("! oldText is empty"));
  const std::string many(1 << 20, 'a');
  CHECK(edit(many, "a", std::string(64, 'b'), true) == "! f would be larger than 16777216 bytes.");
}

}  // namespace agentrt::adapters::tools

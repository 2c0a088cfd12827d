// adapters/tools/ignore_file_test.cc: tests which paths the lines of a .gitignore exclude.
#include "adapters/tools/ignore_file.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

namespace agentrt::adapters::tools {
namespace {

bool left_out(std::string_view text, std::string_view path,
              IgnoreFile::Kind kind = IgnoreFile::Kind::other) {
  return IgnoreFile(text).leaves_out(path, kind).value_or(false);
}
bool folder_left_out(std::string_view text, std::string_view path) {
  return left_out(text, path, IgnoreFile::Kind::folder);
}

}  // namespace

TEST_CASE("a line without a slash is of every folder, one with a slash of the file's own") {
  CHECK(left_out("*.o", "a.o"));
  CHECK(left_out("*.o", "src/deep/a.o"));
  CHECK_FALSE(left_out("*.o", "a.oo"));
  CHECK(left_out("/a.o", "a.o"));
  CHECK_FALSE(left_out("/a.o", "src/a.o"));
  CHECK(left_out("src/*.o", "src/a.o"));
  CHECK_FALSE(left_out("src/*.o", "src/deep/a.o"));
  CHECK_FALSE(left_out("src/*.o", "lib/src/a.o"));
}

TEST_CASE("a slash at the end means folders alone, and is not one that ties the line down") {
  CHECK(folder_left_out("build/", "build"));
  CHECK(folder_left_out("build/", "lib/build"));
  CHECK_FALSE(left_out("build/", "build"));
  CHECK_FALSE(folder_left_out("/build/", "lib/build"));
}

TEST_CASE("two stars go over folders") {
  CHECK(left_out("**/logs/x", "logs/x"));
  CHECK(left_out("**/logs/x", "a/b/logs/x"));
  CHECK(left_out("logs/**", "logs/a/b"));
  CHECK_FALSE(folder_left_out("logs/**", "logs"));
  CHECK(left_out("a/**/z", "a/z"));
  CHECK(left_out("a/**/z", "a/b/c/z"));
  CHECK_FALSE(left_out("a**z", "a/z"));
}

TEST_CASE("the last line that fits decides, and ! takes back") {
  CHECK_FALSE(left_out("*.log\n!keep.log\n", "keep.log"));
  CHECK(left_out("!keep.log\n*.log\n", "keep.log"));
  CHECK_FALSE(IgnoreFile("*.log").leaves_out("a.txt", IgnoreFile::Kind::other));
}

TEST_CASE("classes, single characters and what a backslash stands before") {
  CHECK(left_out("[ab]?.txt", "ax.txt"));
  CHECK_FALSE(left_out("[!ab]x", "ax"));
  CHECK(left_out("[!ab]x", "cx"));
  CHECK_FALSE(left_out("a[!b]c", "a/c"));
  CHECK(left_out("[0-9].txt", "7.txt"));
  CHECK(left_out("[]x]", "]"));
  CHECK_FALSE(left_out("a[b", "a[b"));
  CHECK(left_out("a[b\nx", "x"));
  CHECK(left_out("\\!x", "!x"));
  CHECK(left_out("\\#x", "#x"));
  CHECK(left_out("a\\*", "a*"));
  CHECK_FALSE(left_out("a\\*", "ab"));
  CHECK(left_out("a+(b).c", "a+(b).c"));
}

TEST_CASE("classes by name, within the brackets of a class") {
  CHECK(left_out("[[:alpha:]]x", "bx"));
  CHECK_FALSE(left_out("[[:alpha:]]x", "7x"));
  CHECK_FALSE(left_out("[[:alpha:]]x", ":x"));
  CHECK(left_out("v[[:digit:][:upper:]_].log", "v7.log"));
  CHECK(left_out("v[[:digit:][:upper:]_].log", "vA.log"));
  CHECK(left_out("v[[:digit:][:upper:]_].log", "v_.log"));
  CHECK_FALSE(left_out("v[[:digit:][:upper:]_].log", "va.log"));
  CHECK_FALSE(left_out("[![:space:]]x", " x"));
  CHECK(left_out("[![:space:]]x", "ax"));
  CHECK_FALSE(left_out("a[![:alpha:]]c", "a/c"));
  CHECK(left_out("[[:digit:]-z]", "-"));
  CHECK(left_out("[[:digit:]-z]", "z"));
  CHECK_FALSE(left_out("[[:digit:]-z]", "y"));
  CHECK(left_out("[[:]", ":"));
  CHECK(left_out("[[:]", "["));
  CHECK(left_out("[a\\-c]", "-"));
  CHECK_FALSE(left_out("[a\\-c]", "b"));
  for (const char* const name : {"[[:word:]]", "[[:^alpha:]]", "[[::]]", "[[:none:]]?"}) {
    CAPTURE(name);
    CHECK_FALSE(left_out(name, "a"));
    CHECK_FALSE(left_out(name, "aa"));
  }
}

TEST_CASE(
    "comments, empty lines, blanks at the end and foreign line ends are not part of a pattern") {
  CHECK(left_out("# no\n\n  \nx  \r\n", "x"));
  CHECK_FALSE(left_out("#x", "#x"));
  CHECK(left_out("x\\ ", "x "));
  CHECK_FALSE(left_out("/\n!\n", "x"));
}

TEST_CASE("a file that is too long leaves out what its beginning says") {
  std::string many = "first\n";
  for (std::size_t i = 0; i < kIgnoreLinesMax; ++i) many += fmt::format("name{}\n", i);
  CHECK(left_out(many, "first"));
  CHECK_FALSE(left_out(many, fmt::format("name{}", kIgnoreLinesMax - 1)));
}

}  // namespace agentrt::adapters::tools

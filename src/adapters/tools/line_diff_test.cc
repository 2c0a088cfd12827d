// adapters/tools/line_diff_test.cc: tests that git can apply the diffs and that they are shortest.
#include "adapters/tools/line_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "adapters/tools/testing/file_tools_fixture.h"

namespace agentrt::adapters::tools {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

std::vector<std::string> some_lines(Random& random, std::size_t most, std::size_t kinds) {
  std::vector<std::string> out(below(random, most + 1));
  for (std::string& line : out) line = fmt::format("line {}\n", below(random, kinds));
  return out;
}

// A few lines removed, added or replaced.
std::vector<std::string> changed(Random& random, std::vector<std::string> lines,
                                 std::size_t kinds) {
  for (std::size_t i = below(random, 6); i > 0; --i) {
    const auto at = static_cast<std::ptrdiff_t>(below(random, lines.size() + 1));
    if (below(random, 2) == 0 || at == std::ssize(lines))
      lines.insert(lines.begin() + at, fmt::format("line {}\n", below(random, kinds)));
    else
      lines.erase(lines.begin() + at);
  }
  return lines;
}

std::string text_of(Random& random, const std::vector<std::string>& lines) {
  std::string out = fmt::format("{}", fmt::join(lines, ""));
  if (!out.empty() && below(random, 4) == 0) out.pop_back();  // no line end at the end
  return out;
}

std::size_t longest_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> row(b.size() + 1, 0);
  for (const std::string& line : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = line == b[j] ? diagonal + 1 : std::max(row[j], above);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

TEST_CASE("git applies every diff and gets the text after it") {
  Random random(20'261'115);
  FileKit kit;
  std::string all;
  std::vector<std::pair<std::string, std::string>> expected;
  for (int i = 0; i < 400; ++i) {
    const std::size_t kinds = 2 + below(random, 40);
    const auto lines = some_lines(random, 40, kinds);
    const std::string before = text_of(random, lines);
    const std::string after = text_of(random, changed(random, lines, kinds));
    const bool is_new = before.empty();
    if (before == after || (is_new && after.empty())) continue;
    const std::string name = fmt::format("d/{} {}\"\\", i, i % 3 == 0 ? "ü\t" : "");
    if (!is_new) kit.put("ws/" + name, before);
    const LineDiff diff =
        line_diff(name, before, after, is_new ? DiffOf::new_file : DiffOf::present_file);
    all += diff.text;
    expected.emplace_back(name, after);
  }
  REQUIRE(expected.size() > 300);
  kit.put("all.diff", all);
  const std::string command =
      fmt::format("cd {} && git apply --unidiff-zero ../all.diff 2>../errors", kit.ws());
  CHECK_MESSAGE(std::system(command.c_str()) == 0, kit.get("errors"));
  for (const auto& [name, after] : expected) {
    CAPTURE(name);
    CHECK(kit.get("ws/" + name) == after);
  }
}

TEST_CASE("no shorter script of lines leads from one text to the other") {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const auto a = some_lines(random, 30, 4), b = some_lines(random, 30, 4);
    const LineDiff diff =
        line_diff("x", fmt::format("{}", fmt::join(a, "")), fmt::format("{}", fmt::join(b, "")));
    const std::size_t common = longest_common(a, b);
    CHECK(diff.removed == a.size() - common);
    CHECK(diff.added == b.size() - common);
  }
}

TEST_CASE("texts that differ too much are replaced whole, and still right") {
  FileKit kit;
  std::string before, after;
  for (int i = 0; i < 20'000; ++i) {
    before += fmt::format("before {}\n", i);
    after += fmt::format("after {}\n", i);
  }
  const std::string end = "the same end\n";
  const LineDiff diff = line_diff("big", before + end, after + end);
  CHECK(diff.added == 20'000);
  CHECK(diff.removed == 20'000);
  kit.put("ws/big", before + end);
  kit.put("big.diff", diff.text);
  CHECK(std::system(fmt::format("cd {} && git apply ../big.diff", kit.ws()).c_str()) == 0);
  CHECK(kit.get("ws/big") == after + end);
}

TEST_CASE("the largest files are compared in bounded time") {
  // Every second of these one-byte lines differs: the worst case for the search.
  std::string before, after;
  for (std::size_t i = 0; i < 4'000'000; ++i) {
    before += i % 2 == 0 ? "a\n" : "b\n";
    after += i % 3 == 0 ? "a\n" : "b\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const LineDiff diff = line_diff("big", before, after);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  MESSAGE("8 MB each in ", took.count(), " s");
  CHECK(diff.added > 0);
  CHECK(took.count() < 10);
}

TEST_CASE("a diff names files as git does") {
  CHECK(line_diff("a b", "x\n", "y\n").text ==
        "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n");
  CHECK(line_diff("/o/\n", "", "y", DiffOf::new_file).text ==
        "diff --git \"a/o/\\012\" \"b/o/\\012\"\nnew file mode 100644\n--- /dev/null\n"
        "+++ \"b/o/\\012\"\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n");
  CHECK(line_diff("e", "", "", DiffOf::new_file).text ==
        "diff --git a/e b/e\nnew file mode 100644\n");
  CHECK(line_diff("z", std::string_view("a\0", 2), "b\n").text ==
        "diff --git a/z b/z\nBinary files a/z and b/z differ\n");
}

TEST_CASE("a diff gives the old text back") {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"", ""},
      {"", "a\n"},
      {"a", ""},
      {"a\nb\nc\n", "a\nB\nc\n"},
      {"a\nb", "a\nb\n"},
      {"a\nb\n", "a\nb"},
      {"- x\n+ y\n\\ z\n", "- x\n@@ -1 +1 @@\n--- a\n"},
      {"caf\xe9\n", "cafe\n"},
      {"one\r\ntwo\r\n", "one\r\n2\r\n"},
  };
  for (const auto& [before, after] : pairs)
    for (const auto& [old_text, new_text] : {std::pair{before, after}, std::pair{after, before}}) {
      CAPTURE(old_text);
      CAPTURE(new_text);
      CHECK(unpatched(new_text, line_diff("f", old_text, new_text).text) == old_text);
    }
  CHECK(unpatched("", line_diff("f", "x\ny", "", DiffOf::removed_file).text) == "x\ny");
  CHECK(unpatched("x\ny", line_diff("f", "", "x\ny", DiffOf::new_file).text) == "");
}

TEST_CASE("random diffs are undone, and a diff of another text is noticed") {
  std::minstd_rand random(7);
  const auto text = [&] {
    std::string out;
    for (std::size_t lines = random() % 40; lines > 0; --lines)
      out += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    if (random() % 2 == 0 && !out.empty()) out.pop_back();
    return out;
  };
  for (int i = 0; i < 2'000; ++i) {
    const std::string before = text(), after = text();
    const std::string diff = line_diff("f", before, after).text;
    CHECK(unpatched(after, diff) == before);
    if (const auto wrong = unpatched(after + "\nz\n", diff); wrong) CHECK(wrong != before);
  }
  CHECK_FALSE(unpatched("other\n", line_diff("f", "a\n", "b\n").text));
  CHECK_FALSE(unpatched("b\n", line_diff("f", std::string_view("a\0", 2), "b\n").text));
  CHECK_FALSE(unpatched("b\n", "@@ -1 +1 @@\n"));
  CHECK_FALSE(unpatched("b\n", "@@ -x +1 @@\n-a\n+b\n"));
  CHECK_FALSE(unpatched("b\n", "@@ -1 +9 @@\n-a\n+b\n"));
}

}  // namespace agentrt::adapters::tools

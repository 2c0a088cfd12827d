// cli/views/call_view_test.cc: rendering of calls, outputs, diffs and plans.
#include "cli/views/call_view.h"

#include <doctest/doctest.h>

#include "cli/views/status_line.h"

namespace agentrt::cli {
namespace {

std::string title_of(std::string tool, std::string args) {
  return call_title({.tool = std::move(tool), .args = std::move(args)});
}

TEST_CASE("a call that is still written shows its object as soon as it is known, and its size") {
  CHECK(written_title("write_file", "", 0) == "write · 0 bytes");
  CHECK(written_title("write_file", R"({"path": "src/a)", 14) == "write src/a · 14 bytes");
  CHECK(written_title("write_file", R"({"path":"src/a.cc","content":"x)", 12'400) ==
        "write src/a.cc · 12 KiB");
  CHECK(written_title("shell", R"({"command":"make -j2 &&)", 3'000) == "$ make -j2 && · 2 KiB");
  CHECK(written_title("mcp__box__put", R"({"path":"x")", 2'048) == "box put · 2 KiB");
  CHECK(written_title("write_file", "{\"path\":\"a\x1b[2J\nb\"", 20) ==
        "write a\\x1b[2J b · 20 bytes");
}

TEST_CASE("a call is said in one line") {
  CHECK(title_of("shell", R"({"command":"ls -l"})") == "$ ls -l");
  CHECK(title_of("read_file", R"({"path":"src/a.cc"})") == "read src/a.cc");
  CHECK(title_of("read_file", R"({"path":"a","offset":10,"limit":5})") == "read a:10-14");
  CHECK(title_of("read_file", R"({"path":"a","offset":10})") == "read a:10-");
  CHECK(title_of("write_file", R"({"path":"a","content":"x"})") == "write a");
  CHECK(title_of("list_files", "{}") == "list .");
  CHECK(title_of("list_files", R"({"path":"src","pattern":"*.h"})") == "list src *.h");
  CHECK(title_of("search_files", R"({"pattern":"a b","path":"src"})") == "search a b in src");
  CHECK(title_of("search_files", R"({"pattern":"x","files":"*.cc"})") == "search x in *.cc");
  CHECK(title_of("ask_user", R"({"question":"Which\none?"})") == "ask Which one?");
  CHECK(title_of("mcp__files__read_text", R"({"path":"a"})") == R"(files read_text {"path":"a"})");
  CHECK(title_of("other", "{}") == "other");
  CHECK(title_of("shell", "no object") == "shell no object");
  CHECK(title_of("shell", R"({"command":"a\u001b[2Jb"})") == "$ a\\x1b[2Jb");
}

TEST_CASE("a command in the background says so") {
  const Call call{.tool = "shell", .args = R"({"command":"serve","background":true})"};
  CHECK(call_line(call, CallEnd::done, 5, {}, {}) == "✓ $ serve · in the background · 5 ms\n");
}

TEST_CASE("a command that ran outside the sandbox says so, as whom and why") {
  Call call{.tool = "shell",
            .args = R"({"command":"npm publish","outsideSandbox":true,"tty":true,)"
                    R"("justification":"needs the registry"})"};
  call.outside = "as root, without network";
  CHECK(call_line(call, CallEnd::done, 5, {}, {}) ==
        "✓ OUTSIDE THE SANDBOX $ npm publish · tty · 5 ms\n"
        "  it ran as root, without network; the model says: needs the registry\n");
  CHECK(call_line(call, CallEnd::refused, 5, "no", {}) == "⊘ $ npm publish · not run\n  no\n");
}

TEST_CASE("a diff is coloured, cut to the screen and bounded") {
  CHECK(diff_text("--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n--- x\n+y\n", {20, Colour::on}) ==
        "  \x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n   same\n  \x1b[31m--- x\x1b[0m\n  \x1b[32m+y\x1b[0m\n");
  CHECK(diff_text("@@ @@\n+0123456789\n", {8, Colour::off}) == "  @@ @@\n  +0123…\n");
  CHECK(diff_text("@@ @@\n+\ta\x1b]0;x\r\n", {40, Colour::off}) == "  @@ @@\n  +    a\\x1b]0;x\n");
  std::string many = "@@ @@\n";
  for (std::size_t i = 0; i < kDiffLinesMax + 9; ++i) many += "+x\n";
  const std::string shown = diff_text(many, {});
  CHECK(shown.ends_with("  … 10 more lines\n"));
  CHECK(diff_text("nothing of a diff\n", {}) == "");
}

TEST_CASE("a plan shows so many steps and no more") {
  std::string args = R"({"plan":[)";
  for (std::size_t i = 0; i <= kPlanStepsMax; ++i) args += R"({"step":"s","status":"pending"},)";
  args.back() = ']';
  CHECK(plan_text(args + "}", {}).ends_with("  ☐ s\n  … 1 more step\n"));
  CHECK(plan_text("{}", {}) == "");
  CHECK(plan_text("nonsense", {}) == "");
}

TEST_CASE("on a narrow screen the line that is drawn anew never folds") {
  for (const std::size_t width : {4, 5, 8, 12, 20, 30, 39}) {
    CAPTURE(width);
    StatusLine line;
    const std::string drawn = line.draw("$ a_rather_long_command", 75'000, width, Colour::off);
    CHECK(width_of(std::string_view(drawn).substr(std::string_view("\r\x1b[K").size())) < width);
  }
}

TEST_CASE("on a narrow screen a call keeps its title and its outcome") {
  const Call call{.tool = "shell", .args = R"({"command":"a_rather_long_command"})"};
  CHECK(call_line(call, CallEnd::failed, 2'000, {}, {30, Colour::off}) ==
        "✗ $ a_rather… · failed · 2.0 s\n");
  CHECK(call_line(call, CallEnd::failed, 2'000, {}, {20, Colour::off}) ==
        "✗ $ a_rather_long_c… · failed · 2.0 s\n");
}

TEST_CASE("the status line is drawn over itself, fits, and leaves nothing behind") {
  StatusLine line;
  CHECK(line.erase() == "");
  CHECK(line.draw("$ npm test", 61'000, 80, Colour::off) ==
        "\r\x1b[K⠋ $ npm test · 1 min 1 s · Ctrl-C interrupts");
  CHECK(line.draw("0123456789", 500, 12, Colour::off) == "\r\x1b[K⠙ 01… · 0 s");
  CHECK(line.erase() == "\r\x1b[K");
  CHECK(line.erase() == "");
}

}  // namespace
}  // namespace agentrt::cli

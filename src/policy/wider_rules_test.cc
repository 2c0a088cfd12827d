#include <doctest/doctest.h>

#include "policy/wider_rules.h"

using namespace agentrt::policy;

namespace {

using Texts = std::vector<std::string>;

Texts offered(std::string text) {
  return wider_rules({.tool = "shell", .text = std::move(text), .cwd = "/ws", .workspace = "/ws"});
}

}  // namespace

TEST_CASE("a prefix begins with the program, or with its subcommand") {
  CHECK(offered("ls") == Texts{"shell(ls:*)"});
  CHECK(offered("git log --oneline") == Texts{"shell(git log:*)", "shell(git log --oneline:*)"});
  CHECK(offered("npm run build") == Texts{"shell(npm run build:*)"});
  CHECK(offered("make") == Texts{"shell(make:*)"});
  CHECK(offered("python3 -m pytest -q x").front() == "shell(python3:*)");
  CHECK(offered("git log | head -5") ==
        Texts{"shell(git log:*)", "shell(head:*)", "shell(head -5:*)"});
}

TEST_CASE("no prefix is longer than four words or has a word that needs quotes") {
  CHECK(offered("tool a b c d e").size() == kPrefixWordsMax);
  CHECK(offered("echo 'a b' c") == Texts{"shell(echo:*)"});
  CHECK(offered("echo a, outside") == Texts{"shell(echo:*)"});
  CHECK(offered("git $X log").empty());
}

TEST_CASE("no prefix is offered where it would grant too much or nothing") {
  for (const char* text : {"sudo ls", "su -c ls", "./check.sh", "/bin/ls", "git -C x log", "$X y",
                           "a; b; c; d; e", "if", ""}) {
    CAPTURE(text);
    CHECK(offered(text).empty());
  }
  Asked outside{.tool = "shell", .text = "ls", .cwd = "/ws", .workspace = "/ws"};
  outside.escalation = Escalation::outside_sandbox;
  CHECK(wider_rules(outside).empty());
}

TEST_CASE("the host of a page is offered") {
  const auto of = [](std::string url) { return wider_rules({.tool = "web_fetch", .text = url}); };
  CHECK(of("https://a.example.org:8443/x?y") == Texts{"web_fetch(a.example.org)"});
  CHECK(of("https://192.0.2.1/") == Texts{"web_fetch(192.0.2.1)"});
  CHECK(of("https://[2001:db8::1]/").empty());
}

TEST_CASE("a tool of an MCP server is offered as a whole, a file tool is not") {
  CHECK(wider_rules({.tool = "mcp__files__read", .text = "{}", .cwd = "/ws", .workspace = "/ws"}) ==
        Texts{"mcp__files__read"});
  CHECK(wider_rules({.tool = "write_file", .text = "a", .cwd = "/ws", .workspace = "/ws"}).empty());
}

// adapters/process/left_behind_test.cc: tests which files of a command are reported.
#include "adapters/process/left_behind.h"

#include <doctest/doctest.h>

#include "adapters/process/sandbox.h"
#include "adapters/process/testing/tree_fixture.h"

namespace agentrt::adapters {
namespace {

struct Workspace : TestTree {
  explicit Workspace(schema::SandboxMode mode = schema::SandboxMode::workspace_write) {
    profile.mode = mode;
    profile.roots = {path("ws")};
  }
  // Before a command.
  void begin() { before = state_of_workspace(profile, repositories_of(profile)); }
  // After it: what is reported, with paths relative to the workspace.
  std::vector<std::string> end() const {
    std::vector<std::string> out;
    for (const schema::SandboxViolation& each : left_behind(before)) {
      CHECK(each.advisory == true);
      CHECK(each.layer == "inspection");
      REQUIRE(each.attempted.starts_with(path("ws/")));
      out.push_back(each.attempted.substr(path("ws/").size()));
    }
    return out;
  }

  schema::SandboxProfile profile;
  std::string before;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a command that leaves nothing is not reported") {
  Workspace ws;
  ws.put("ws/.envrc", "export A=1\n");
  ws.put("ws/.vscode/tasks.json", "{}");
  ws.repository("ws/.git");
  ws.put("ws/.git/config", "[core]\n\tfsmonitor = ./x\n");
  ws.begin();
  CHECK_FALSE(ws.before.empty());
  ws.put("ws/main.c", "int x;\n");
  CHECK(ws.end().empty());
}

TEST_CASE("a new repository is reported if its settings or hooks name programs") {
  Workspace ws;
  ws.begin();
  ws.repository("ws/plain/.git");
  ws.put("ws/plain/.git/config", "[core]\n\tbare = false\n");
  ws.repository("ws/made/.git");
  ws.put("ws/made/.git/config", "[core]\n\tfsmonitor = ./x\n[alias]\n\tst = !sh\n\tci = commit\n");
  ws.put("ws/made/.git/hooks/pre-commit", "#!/bin/sh\n");
  ws.put("ws/made/.git/hooks/idle", "not executable\n");
  std::filesystem::permissions(ws.path("ws/made/.git/hooks/pre-commit"),
                               std::filesystem::perms(0755));
  CHECK(ws.end() == Lines{"made/.git/config sets a program that git runs: core.fsmonitor",
                          "made/.git/config sets a program that git runs: alias.st",
                          "made/.git/hooks/pre-commit is a new or changed hook that git runs"});
}

TEST_CASE("a repository that commands made stays watched for later ones") {
  Workspace ws;
  ws.begin();
  ws.repository("ws/made/.git");
  CHECK(ws.end().empty());
  ws.begin();
  ws.put("ws/made/.git/config", "[core]\n\tpager = ./x\n");
  CHECK(ws.end() == Lines{"made/.git/config sets a program that git runs: core.pager"});
  ws.begin();
  CHECK(ws.end().empty());  // reported once
}

TEST_CASE("a rebase plan that runs commands is reported, and other plans are not") {
  Workspace ws;
  ws.repository("ws/.git");
  ws.begin();
  ws.put("ws/.git/rebase-merge/git-rebase-todo", "pick 1234\n");
  CHECK(ws.end().empty());
  ws.put("ws/.git/rebase-merge/git-rebase-todo", "pick 1234\nexec ./x\n");
  CHECK(ws.end() == Lines{".git/rebase-merge/git-rebase-todo contains exec lines, which run "
                          "commands when the rebase is continued"});
}

TEST_CASE("files that programs outside obey are reported when they are new or changed") {
  Workspace ws;
  ws.put("ws/.npmrc", "a=1\n");
  ws.put("ws/.envrc", "export A=1\n");
  ws.begin();
  ws.put("ws/.npmrc", "script-shell=./x\n");
  ws.put("ws/.vscode/tasks.json", "{}");
  ws.remove("ws/.envrc");
  CHECK(ws.end() ==
        Lines{".vscode/tasks.json is new or changed, and controls programs outside the sandbox",
              ".npmrc is new or changed, and controls programs outside the sandbox"});
}

TEST_CASE("findings are bounded, and only of folders that commands may write") {
  Workspace ws;
  ws.begin();
  for (std::size_t i = 0; i < kFindingsMax + 5; ++i) ws.put("ws/.husky/h" + std::to_string(i), "x");
  CHECK(ws.end().size() == kFindingsMax);
  for (const auto mode : {schema::SandboxMode::read_only, schema::SandboxMode::full_access}) {
    Workspace other(mode);
    other.begin();
    CHECK(other.before.empty());
    other.put("ws/.envrc", "x");
    CHECK(other.end().empty());
  }
}

}  // namespace agentrt::adapters

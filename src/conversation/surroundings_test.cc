// conversation/surroundings_test.cc: what a model gets to know about where it works, and when.
#include "conversation/surroundings.h"

#include <doctest/doctest.h>

namespace agentrt::conversation {

using namespace schema;

namespace {

const std::vector<std::string> kNone;

Surroundings usual(const policy::Effective& policy = {},
                   std::optional<ports::GitState> git = ports::GitState{"main", "", false, ""}) {
  ExecutionEnvironment environment;
  environment.os = "Linux 6.1";
  environment.arch = "x86_64";
  environment.shell = "/bin/bash";
  environment.sandbox_profile.write_roots = {"/w"};
  return surroundings_of({.now = {1'790'000'000'000},
                          .cwd = "/w",
                          .additional_roots = kNone,
                          .environment = &environment,
                          .git = std::move(git),
                          .policy = policy});
}

}  // namespace

TEST_CASE("the first message has every line") {
  const auto message = surroundings_message(std::nullopt, usual());
  REQUIRE(message.has_value());
  for (const char* line :
       {"- Date (UTC): 2026-09-21\n", "- Operating system: Linux 6.1 x86_64\n",
        "- Shell: /bin/bash\n", "- Folder: /w\n",
        "- Git: branch main, tracked files have no uncommitted changes\n",
        "- Sandbox: workspace_write: commands can write only to /w and a private /tmp\n",
        "- Network: commands cannot reach it\n", "- Permission mode: default: ",
        "- Approvals: make the call; if it needs an approval, a person is asked"})
    CHECK_MESSAGE(message->contains(line), line);
}

TEST_CASE("a later message has the lines that changed, and none if there are none") {
  const Surroundings before = usual();
  CHECK_FALSE(surroundings_message(before, before).has_value());
  Surroundings now = before;
  now.date = "2026-09-22";
  now.git.reset();
  CHECK(surroundings_message(before, now) ==
        "[From the runtime: this has changed.]\n- Date (UTC): 2026-09-22\n- Git: not a "
        "repository\n");
}

TEST_CASE("the mode plan says that the model reads and proposes") {
  policy::Effective policy;
  policy.mode = PermissionMode::plan;
  CHECK(usual(policy).mode.starts_with("plan: read and propose"));
}

TEST_CASE("a run that asks nobody says so") {
  policy::Effective policy;
  policy.interactive = policy::Interactive::no;
  CHECK(usual(policy).approvals.starts_with("nobody can be asked"));
}

TEST_CASE("the state of the repository is one line") {
  CHECK(usual({}, ports::GitState{"", "abc1234567", true, "rebase"}).git ==
        "no branch, commit abc1234567, tracked files have uncommitted changes, a rebase is in "
        "progress");
  CHECK(usual({}, ports::GitState{"main", "", std::nullopt, ""}).git == "branch main");
  CHECK_FALSE(usual({}, std::nullopt).git.has_value());
}

}  // namespace agentrt::conversation

#include "launcher/guarded/names.h"

#include <doctest/doctest.h>

namespace agentrt::launcher {
namespace {

const std::vector<std::string> kPatterns = {"index",
                                            "index.stash.*",
                                            "logs/",
                                            "rebase-merge/",
                                            "worktrees/*/HEAD",
                                            "worktrees/*/logs/",
                                            "+worktrees/*/gitdir",
                                            "+worktrees/*/commondir=../..\n"};

Access access(std::string_view path) { return writable(kPatterns, path).access; }

TEST_CASE("only what a pattern names can be written in a guarded folder") {
  for (const char* path :
       {"index", "index.lock", "index.stash.71", "index.stash.71.lock", "logs", "logs/HEAD",
        "rebase-merge/a/b", "worktrees/x/HEAD.lock", "worktrees/x/logs/HEAD"})
    CHECK_MESSAGE(access(path) == Access::everything, path);
  for (const char* path :
       {"", "config", "config.lock", "commondir", "index2", "index/x", "xindex", "log", "logsx",
        "hooks/pre-commit", "worktrees/x/config.worktree", "worktrees/x/HEAD/y",
        "worktrees/x/y/HEAD", "worktrees/x/commondir.lock", "worktrees/x/gitdir.lock", ".lock"})
    CHECK_MESSAGE(access(path) <= Access::way, path);
  CHECK(access("config") == Access::none);
  CHECK(access("worktrees") == Access::way);
  CHECK(access("worktrees/x") == Access::way);
  CHECK(access("worktrees/x/y") == Access::none);
}

TEST_CASE("a file may be writable only when it is new, or get its content from here") {
  CHECK(access("worktrees/x/gitdir") == Access::new_file);
  CHECK_FALSE(writable(kPatterns, "worktrees/x/gitdir").content.has_value());
  const Writable fixed = writable(kPatterns, "worktrees/x/commondir");
  CHECK(fixed.access == Access::new_file);
  CHECK(fixed.content == "../..\n");
}

TEST_CASE("folders that are writable as a whole are those with a plain name") {
  CHECK(whole_folders(kPatterns) == std::vector<std::string>{"logs", "rebase-merge"});
}

}  // namespace
}  // namespace agentrt::launcher

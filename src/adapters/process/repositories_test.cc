// adapters/process/repositories_test.cc: tests which git folders a search finds.
#include "adapters/process/repositories.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "adapters/process/testing/tree_fixture.h"

namespace agentrt::adapters {
namespace {

// The git folders found below the root, relative to it.
std::vector<std::string> found_in(const TestTree& tree, const std::string& root = "ws",
                                  const std::vector<std::string>& skipped = {}) {
  std::vector<std::string> out;
  for (const Repository& each : find_repositories({tree.path(root)}, skipped).folders)
    out.push_back(each.folder.substr(tree.path("").size()));
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("repositories are found at any depth: own, nested, bare and submodules") {
  const TestTree tree;
  CHECK(found_in(tree).empty());
  tree.repository("ws/.git");
  tree.repository("ws/lib/deep/.git");
  tree.repository("ws/bare.git");
  tree.repository("ws/.git/modules/a/b");
  tree.put("ws/half/HEAD", "");
  CHECK(found_in(tree) ==
        Names{"ws/.git", "ws/.git/modules/a/b", "ws/bare.git", "ws/lib/deep/.git"});
  CHECK(found_in(tree, "ws", {tree.path("ws/lib")}) ==
        Names{"ws/.git", "ws/.git/modules/a/b", "ws/bare.git"});
}

TEST_CASE("an empty .git is no repository yet") {
  const TestTree tree;
  tree.folder("ws/.git");
  CHECK(found_in(tree).empty());
  tree.put("ws/.git/config", "");
  CHECK(found_in(tree) == Names{"ws/.git"});
}

TEST_CASE("a .git file leads to its git folder, if that lies in a root") {
  const TestTree tree;
  tree.repository("ws/main/.git");
  tree.repository("ws/main/.git/worktrees/w");
  tree.put("ws/main/.git/worktrees/w/commondir", "../..\n");
  tree.put("ws/w/.git", "gitdir: ../main/.git/worktrees/w\n");
  tree.repository("elsewhere/.git");
  tree.put("ws/out/.git", "gitdir: " + tree.path("elsewhere/.git") + "\n");
  CHECK(found_in(tree) == Names{"ws/main/.git"});  // which covers its worktrees
  auto files = find_repositories({tree.path("ws")}, {}).files;
  std::ranges::sort(files);
  CHECK(files == Names{tree.path("ws/out/.git"), tree.path("ws/w/.git")});
  CHECK(found_in(tree, "ws/w").empty());
}

TEST_CASE("a search sees what changed since the last one, and has its limits") {
  const TestTree tree;
  tree.folder("ws/a");
  CHECK(found_in(tree).empty());
  tree.repository("ws/a/.git");
  CHECK(found_in(tree) == Names{"ws/a/.git"});
  tree.remove("ws/a/.git");
  CHECK(found_in(tree).empty());
  for (std::size_t i = 0; i < kRepositoriesMax + 5; ++i)
    tree.repository("ws/r" + std::to_string(i) + "/.git");
  CHECK(found_in(tree).size() == kRepositoriesMax);
}

TEST_CASE("folders of packages and builds come last") {
  const TestTree tree;
  for (std::size_t i = 0; i < kSearchFoldersMax; ++i)
    tree.folder("ws/node_modules/p" + std::to_string(i));
  tree.repository("ws/src/deep/er/.git");
  CHECK(found_in(tree) == Names{"ws/src/deep/er/.git"});
}

TEST_CASE("a repository that commands made is marked until the process ends") {
  const TestTree tree;
  tree.repository("ws/.git");
  mark_made_inside(tree.path("ws/.git"));
  const auto found = find_repositories({tree.path("ws")}, {}).folders;
  REQUIRE(found.size() == 1);
  CHECK(found[0].made_inside);
}

}  // namespace agentrt::adapters

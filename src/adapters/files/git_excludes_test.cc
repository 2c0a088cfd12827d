// adapters/files/git_excludes_test.cc: tests which file holds the user's global git excludes.
#include "adapters/files/git_excludes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;

struct Home {
  Home() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_git_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
  }
  ~Home() { fs::remove_all(folder); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << text;
  }
  std::string excludes(const std::string& config_home = "") const {
    return git_excludes({.home = folder.string(), .config_home = config_home});
  }

  fs::path folder;
};

}  // namespace

TEST_CASE("without a setting the excludes are git/ignore of the configuration folder") {
  const Home home;
  CHECK(home.excludes().empty());
  home.put(".config/git/ignore", "*.swp\n");
  CHECK(home.excludes() == "*.swp\n");
  home.put("xdg/git/ignore", "*.bak\n");
  CHECK(home.excludes((home.folder / "xdg").string()) == "*.bak\n");
  CHECK(git_excludes({}).empty());
}

TEST_CASE("the last core.excludesFile counts, and ~/.gitconfig is read last") {
  const Home home;
  home.put(".config/git/ignore", "default\n");
  home.put("one", "1\n");
  home.put("two", "2\n");
  home.put(".config/git/config", "[core]\n\texcludesFile = ~/one\n");
  CHECK(home.excludes() == "1\n");
  home.put(".gitconfig", "[Core] ExcludesFile = \"" + (home.folder / "two").string() + "\"\n");
  CHECK(home.excludes() == "2\n");
  home.put(".gitconfig", "[core]\nexcludesFile =\n");
  CHECK(home.excludes().empty());
  for (const char* value : {"relative", "~other/x", "~/none"}) {
    home.put(".gitconfig", std::string("[core]\nexcludesFile = ") + value + "\n");
    CHECK(home.excludes().empty());
  }
}

TEST_CASE("included files are read, also in circles; conditional ones are not") {
  const Home home;
  home.put("one", "1\n");
  home.put(".gitconfig", "[include]\npath = conf/more\n[includeIf \"gitdir:/\"]\npath = ~/never\n");
  home.put("conf/more", "[core]\nexcludesFile = ~/one\n[include]\npath = ../.gitconfig\n");
  home.put("never", "[core]\nexcludesFile = ~/none\n");
  CHECK(home.excludes() == "1\n");
}

TEST_CASE("what is no regular file is not read, and a large one in part") {
  const Home home;
  home.put("x", "");
  REQUIRE(::mkfifo((home.folder / "pipe").c_str(), 0600) == 0);
  home.put(".gitconfig", "[core]\nexcludesFile = ~/pipe\n");
  CHECK(home.excludes().empty());
  home.put("large", std::string(kGitExcludesBytesMax + 5, 'x'));
  home.put(".gitconfig", "[core]\nexcludesFile = ~/large\n");
  CHECK(home.excludes().size() == kGitExcludesBytesMax);
}

}  // namespace agentrt::adapters

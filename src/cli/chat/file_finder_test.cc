#include "cli/chat/file_finder.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

using namespace agentrt::cli;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  void file(const std::string& name, std::string_view text = "") const {
    fs::create_directories((fs::path(path) / name).parent_path());
    std::ofstream(fs::path(path) / name) << text;
  }
  std::string path = "/tmp/agentrt_finder_XXXXXX";
};

// Waits for the complete answer to `query`.
FileFinder::Found whole_answer(FileFinder& finder, const std::string& query) {
  finder.ask(query);
  while (true) {
    pollfd waiting{finder.descriptor(), POLLIN, 0};
    REQUIRE(::poll(&waiting, 1, 20'000) == 1);
    const auto found = finder.take();
    if (found && found->complete && found->query == query) return *found;
  }
}
std::vector<std::string> asked(FileFinder& finder, const std::string& query) {
  return whole_answer(finder, query).paths;
}

std::vector<std::string> best_matches(const std::vector<std::string>& paths, std::string_view query,
                                      std::size_t count) {
  BestPaths best(query, count);
  for (const std::string& path : paths) best.add(path);
  return best.paths();
}

}  // namespace

TEST_CASE("matches are ranked: name, then path, then characters in order") {
  const std::vector<std::string> paths = {"docs/main.md", "src/main/other.cc", "src/main.cc",
                                          "m/a/i/n.txt",  "domain.cc",         "unrelated"};
  CHECK(best_matches(paths, "main", 10) ==
        std::vector<std::string>{"src/main.cc", "docs/main.md", "domain.cc", "src/main/other.cc",
                                 "m/a/i/n.txt"});
  CHECK(best_matches(paths, "MAIN.CC", 1) == std::vector<std::string>{"src/main.cc"});
  CHECK(best_matches(paths, "", 2) == std::vector<std::string>{"domain.cc", "unrelated"});
  CHECK(best_matches(paths, "zzz", 3).empty());
}

TEST_CASE("files are found, and ignored ones are not") {
  const Folder folder;
  folder.file(".gitignore", "build/\n*.o\n");
  folder.file("src/one.cc");
  folder.file("src/one.o");
  folder.file("src/.gitignore", "!keep.o\nsecret\n");
  folder.file("src/keep.o");
  folder.file("src/secret");
  folder.file("build/one.cc");
  folder.file(".git/one.cc");
  fs::create_directory_symlink(folder.path, folder.path + "/loop");
  FileFinder finder(folder.path);
  CHECK(asked(finder, "one") == std::vector<std::string>{"src/one.cc"});
  CHECK(asked(finder, "p.o") == std::vector<std::string>{"src/keep.o"});
  CHECK(asked(finder, "secret").empty());
  CHECK(asked(finder, "loop") == std::vector<std::string>{"loop"});
}

TEST_CASE("a large folder is answered before the walk ends, and then completely") {
  const Folder folder;
  for (int d = 0; d < 40; ++d)
    for (int f = 0; f < 100; ++f)
      folder.file("dir" + std::to_string(d) + "/file" + std::to_string(f) + "_" +
                  std::to_string(d));
  FileFinder finder(folder.path);
  finder.ask("no such file");
  CHECK(asked(finder, "file99_39") == std::vector<std::string>{"dir39/file99_39"});
  CHECK(asked(finder, "dir7/file3").size() == FileFinder::kMatchesMax);
}

TEST_CASE("an answer says what the limits of the walk excluded") {
  const Folder folder;
  folder.file(".gitignore", "*.o\n");
  for (int f = 0; f < 30; ++f) folder.file("file" + std::to_string(f));
  for (int f = 0; f < 600; ++f) folder.file("ignored" + std::to_string(f) + ".o");
  folder.file("a/b/c/deep");
  const auto limited = [&](FinderLimits limits) {
    FileFinder finder(folder.path, limits);
    return whole_answer(finder, "");
  };
  CHECK(limited({}).not_searched.empty());
  CHECK(limited({.files = 10}).not_searched == "only the first 10 files were searched");
  CHECK(limited({.entries = 300}).not_searched.starts_with("only the first "));
  const auto shallow = limited({.depth = 2});
  CHECK(shallow.not_searched == "folders below level 2 were not searched");
  FileFinder finder(folder.path, {.depth = 2});
  CHECK(asked(finder, "a/b/c") == std::vector<std::string>{"a/b/c/"});
  CHECK(asked(finder, "deep").empty());
}

TEST_CASE("the best of many paths") {
  PathList paths;
  for (int i = 0; i < 100'000; ++i)
    paths.add("some/folder/of/medium/length/file_" + std::to_string(i) + ".txt");
  CHECK(paths.size() == 100'000);
  CHECK(paths.at(0) == "some/folder/of/medium/length/file_0.txt");
  CHECK(paths.at(99'999) == "some/folder/of/medium/length/file_99999.txt");
  BestPaths best("FILE_777", 2);
  for (std::size_t i = 0; i < paths.size(); ++i) best.add(paths.at(i));
  CHECK(best.paths() == std::vector<std::string>{"some/folder/of/medium/length/file_777.txt",
                                                 "some/folder/of/medium/length/file_7770.txt"});
}

TEST_CASE("a folder that does not exist has no files") {
  FileFinder finder("/nonexistent/folder");
  CHECK(asked(finder, "").empty());
}

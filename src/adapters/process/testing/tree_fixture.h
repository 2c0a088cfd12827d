// adapters/process/testing/tree_fixture.h: for tests: a temporary folder with files and git
// folders.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace agentrt::adapters {

class TestTree {
 public:
  TestTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_tree_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    base_ = std::filesystem::canonical(pattern);
    folder("ws");
  }
  ~TestTree() { std::filesystem::remove_all(base_); }
  TestTree(const TestTree&) = delete;
  TestTree& operator=(const TestTree&) = delete;

  std::string path(const std::string& name) const { return (base_ / name).string(); }
  void folder(const std::string& name) const { std::filesystem::create_directories(base_ / name); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((base_ / name).parent_path());
    std::ofstream(base_ / name) << text;
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(base_ / name); }
  // A folder that git takes for a repository.
  void repository(const std::string& name) const {
    put(name + "/HEAD", "ref: refs/heads/main\n");
    folder(name + "/objects");
    folder(name + "/refs");
  }

 private:
  std::filesystem::path base_;
};

}  // namespace agentrt::adapters

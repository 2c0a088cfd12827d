#include "cli/chat/history.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

using namespace agentrt::cli;

namespace {

struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = "/tmp/agentrt_history_XXXXXX";
};

}  // namespace

TEST_CASE("the history is kept for its user alone, and found again") {
  const Folder folder;
  const std::string path = folder.path + "/chat_history";
  {
    History history(path);
    history.add("first");
    history.add("second\nline");
    history.add("second\nline");
    history.add("fifth");
  }
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  History history(path);
  CHECK(history.size() == 3);
  CHECK(history.older("") == "fifth");
  CHECK(history.older("fifth") == "second\nline");
  CHECK(history.older("second\nline") == "first");
  CHECK_FALSE(history.older("first"));
  CHECK(history.newer() == "second\nline");
  CHECK(history.newer() == "fifth");
  CHECK(history.newer() == "");
  CHECK_FALSE(history.newer());
  history.stop();
  CHECK(history.older("fi") == "fifth");
  CHECK(history.older("fifth") == "first");
  CHECK(history.newer() == "fifth");
  CHECK(history.newer() == "fi");
  CHECK(history.find("line", history.size()) == 1);
  CHECK_FALSE(history.find("nothing", history.size()));
}

TEST_CASE("the history is bounded, and a damaged file does no harm") {
  const Folder folder;
  const std::string path = folder.path + "/chat_history";
  std::ofstream(path) << "not json\n{\"text\":\"good\"}\n{\"a\":1}\n\xff\xfe\n";
  History history(path);
  CHECK(history.size() == 1);
  history.add(std::string(History::kEntryBytesMax + 1, 'x'));
  CHECK(history.size() == 1);
  for (int i = 0; i < 3'000; ++i) history.add(std::to_string(i));
  CHECK(history.size() == History::kEntriesMax);
  History again(path);
  CHECK(again.size() == History::kEntriesMax);
  CHECK(again.at(again.size() - 1) == "2999");
  CHECK(std::filesystem::file_size(path) < 20'000);
  History nowhere("");
  nowhere.add("x");
  CHECK(nowhere.size() == 1);
  History unreadable("/proc/nothing/here");
  unreadable.add("x");
}

// runtime/data_folder_test.cc: the location of the data folder, and its exclusive ownership.
#include "runtime/data_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace agentrt::runtime {
namespace {

namespace fs = std::filesystem;

struct TempFolder {
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_data_XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { fs::remove_all(path); }
  std::string path;
};

config::Environment environment_of(std::map<std::string, std::string> values) {
  return [values](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST_CASE("the data folder comes from the flag, then AGENTRT_HOME, then XDG_DATA_HOME, then HOME") {
  std::map<std::string, std::string> all = {
      {"AGENTRT_HOME", "/a"}, {"XDG_DATA_HOME", "/x"}, {"HOME", "/h"}};
  CHECK(resolve_data_folder("/flag/", environment_of(all)) == "/flag");
  CHECK(resolve_data_folder(std::nullopt, environment_of(all)) == "/a");
  all.erase("AGENTRT_HOME");
  CHECK(resolve_data_folder(std::nullopt, environment_of(all)) == "/x/agentrt");
  all.erase("XDG_DATA_HOME");
  CHECK(resolve_data_folder(std::nullopt, environment_of(all)) == "/h/.local/share/agentrt");
  all.clear();
  CHECK(resolve_data_folder(std::nullopt, environment_of(all)).error().code ==
        Code::invalid_params);
}

TEST_CASE("a relative data folder is made absolute") {
  const auto found = resolve_data_folder("here", environment_of({}));
  CHECK(*found == (fs::current_path() / "here").string());
}

TEST_CASE("taking a folder makes it for its user alone") {
  const TempFolder temp;
  const std::string data = temp.path + "/deep/data";
  const auto folder = DataFolder::take(data);
  REQUIRE(folder);
  struct stat found{};
  REQUIRE(::stat(data.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
}

TEST_CASE("a second owner is refused with the pid of the first") {
  const TempFolder temp;
  const auto first = DataFolder::take(temp.path);
  REQUIRE(first);
  REQUIRE(first->announce({.url = "http://127.0.0.1:7717"}));
  const auto second = DataFolder::take(temp.path);
  REQUIRE(!second);
  CHECK(second.error().code == Code::conflict);
  CHECK(second.error().message.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(second.error().message.find(temp.path) != std::string::npos);
  CHECK(second.error().details.find("\"url\":\"http://127.0.0.1:7717\"") != std::string::npos);
}

TEST_CASE("the owner is known while it owns the folder and forgotten when it lets go") {
  const TempFolder temp;
  CHECK(*read_owner(temp.path) == std::nullopt);
  {
    const auto folder = DataFolder::take(temp.path);
    REQUIRE(folder);
    Owner expected{.kind = OwnerKind::background,
                   .started_at = Timestamp{1000},
                   .config = "/etc/a.toml",
                   .config_digest = "abc"};
    REQUIRE(folder->announce(expected));
    expected.pid = ::getpid();
    expected.socket = temp.path + "/agentrt.sock";
    CHECK(*read_owner(temp.path) == expected);
  }
  CHECK(*read_owner(temp.path) == std::nullopt);
  CHECK(!fs::exists(owner_path(temp.path)));
  CHECK(DataFolder::take(temp.path).has_value());
}

TEST_CASE("an owner that has not announced itself is still an owner") {
  const TempFolder temp;
  const auto folder = DataFolder::take(temp.path);
  const auto owner = read_owner(temp.path);
  REQUIRE(owner);
  REQUIRE(owner->has_value());
  CHECK((*owner)->pid == 0);
}

TEST_CASE("an owner.json left behind by a killed process proves nothing") {
  const TempFolder temp;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = DataFolder::take(temp.path);
    if (!folder || !folder->announce({})) ::_exit(1);
    ::_exit(0);  // skip the destructor, as kill -9 would
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  CHECK(fs::exists(owner_path(temp.path)));
  CHECK(*read_owner(temp.path) == std::nullopt);
  CHECK(DataFolder::take(temp.path).has_value());
}

TEST_CASE("a damaged owner.json does not hide the owner") {
  const TempFolder temp;
  const auto folder = DataFolder::take(temp.path);
  std::ofstream(owner_path(temp.path)) << "{\"pid\": nonsense";
  const auto owner = read_owner(temp.path);
  REQUIRE(owner);
  CHECK(owner->has_value());
}

TEST_CASE("a takeover is visible while it lasts, and only one process has it") {
  const TempFolder temp;
  CHECK_FALSE(Takeover::in_progress(temp.path));
  {
    const auto takeover = Takeover::begin(temp.path);
    REQUIRE(takeover);
    CHECK(Takeover::in_progress(temp.path));
    CHECK(Takeover::begin(temp.path).error().code == Code::conflict);
  }
  CHECK_FALSE(Takeover::in_progress(temp.path));
}

TEST_CASE("waiting for a free folder ends when its owner lets go, or in time") {
  const TempFolder temp;
  CHECK(wait_for_no_owner(temp.path, 0));
  {
    const auto folder = DataFolder::take(temp.path);
    REQUIRE(folder);
    CHECK_FALSE(wait_for_no_owner(temp.path, 20));
  }
  CHECK(wait_for_no_owner(temp.path, 0));
}

TEST_CASE("a file in place of the folder is refused") {
  const TempFolder temp;
  const std::string file = temp.path + "/file";
  std::ofstream(file) << "x";
  CHECK(DataFolder::take(file).error().code == Code::unavailable);
}

}  // namespace
}  // namespace agentrt::runtime

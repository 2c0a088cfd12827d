#include "runtime/system_clock.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace agentrt::runtime {
namespace {

constexpr std::int64_t kYear = 365LL * 24 * 3'600 * 1'000;

struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_ck_XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return path + "/clock.json"; }
  std::string text() const {
    std::stringstream read;
    read << std::ifstream(file()).rdbuf();
    return read.str();
  }
  std::string path;
};

}  // namespace

TEST_CASE("a clock that was set between two boots makes nothing older") {
  Folder folder;
  const Timestamp stamp = SystemClock::now();
  SystemClock(folder.file()).save();
  // As stored by an earlier boot: a year ago by the wall clock, a moment ago by the uptime.
  const std::string text = folder.text();
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex(R"re("wall":"([^"]*)")re")));
  const auto wall = parse_timestamp(found[1].str());
  REQUIRE(wall.has_value());
  std::ofstream(folder.file()) << std::regex_replace(text, std::regex(R"re("wall":"[^"]*")re"),
                                                     "\"wall\":\"" + format(*wall + -kYear) + '"');
  SystemClock later(folder.file());
  CHECK(later.since(stamp + -kYear) < 60'000);
  CHECK(later.since(stamp) < 60'000);
  CHECK(later.older_than(24LL * 3'600 * 1'000) < stamp + -kYear);
}

TEST_CASE("without a file, or with a damaged one, the wall clock is believed") {
  Folder folder;
  const Timestamp hour_ago = SystemClock::now() + -3'600'000;
  CHECK(SystemClock(folder.file()).since(hour_ago) >= 3'600'000);
  std::ofstream(folder.file()) << "{\"wall\":";
  CHECK(SystemClock(folder.file()).since(hour_ago) >= 3'600'000);
  SystemClock(folder.path + "/no/such/folder").save();
}

}  // namespace agentrt::runtime

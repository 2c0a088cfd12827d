// launcher/spool_test.cc: tests that beginning and end of an output of any length are stored.
#include "launcher/spool.h"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace agentrt::launcher {
namespace {

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / "agentrt_spool_test") {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string read(const char* name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path path;
};

std::string text_of(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size()) + ",";
  text.resize(size);
  return text;
}

}  // namespace

TEST_CASE("an output within the first half is one file") {
  const Folder folder;
  Spool spool;
  REQUIRE(spool.open(folder.path.string(), "out", 100));
  spool.add("hello ");
  spool.add("world");
  CHECK(folder.read("out") == "hello world");
  CHECK(spool.size() == 11);
  CHECK_FALSE(spool.truncated());
  CHECK_FALSE(std::filesystem::exists(folder.path / "out.tail"));
}

TEST_CASE("a longer one keeps its head and goes round in its tail") {
  for (const std::size_t size : {50u, 51u, 99u, 100u, 101u, 149u, 1'000u, 1'017u})
    for (const std::size_t piece : {1u, 7u, 100u, 2'000u}) {
      CAPTURE(size);
      CAPTURE(piece);
      const Folder folder;
      const std::string text = text_of(size);
      Spool spool;
      REQUIRE(spool.open(folder.path.string(), "out", 100));
      for (std::size_t at = 0; at < size; at += piece) spool.add(text.substr(at, piece));
      CHECK(spool.size() == size);
      CHECK(spool.truncated() == (size > 100));
      CHECK(folder.read("out") == text.substr(0, 50));
      const std::string ring = folder.read("out.tail");
      if (size <= 100) {
        CHECK(ring == text.substr(50));
        continue;
      }
      const std::size_t end = (size - 50) % 50;
      CHECK(ring.substr(end) + ring.substr(0, end) == text.substr(size - 50));
    }
}

TEST_CASE("bytes that the disk does not take are counted, and none follows behind a gap") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  for (const auto& [room, kept] : {std::pair{30u, 30u}, {50u, 100u}, {0u, 0u}}) {
    CAPTURE(room);
    const Folder folder;
    const std::string text = text_of(200);
    Spool spool;
    REQUIRE(spool.open(folder.path.string(), "out", 100));
    const rlimit small{room, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    for (std::size_t at = 0; at < 100; at += 10) spool.add(text.substr(at, 10));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    spool.add("x");
    CHECK(spool.size() == 101);
    CHECK(spool.kept() == (kept == 100 ? 101 : kept));
    CHECK(folder.read("out") == text.substr(0, std::min(50u, kept)));
  }
  ::signal(SIGXFSZ, handler);
}

TEST_CASE("a spool does not write over what is there") {
  const Folder folder;
  std::ofstream(folder.path / "out") << "kept";
  Spool spool;
  CHECK_FALSE(spool.open(folder.path.string(), "out", 100));
  CHECK(folder.read("out") == "kept");
}

}  // namespace agentrt::launcher

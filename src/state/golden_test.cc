// state/golden_test.cc: logs written by earlier builds still fold to the same state.
//
// tests/golden holds streams as `agentrt events --json` prints them, each with its expected
// snapshot. An existing stream is never changed; add a new one for each new durable format. After a
// change of the read model, AGENTRT_UPDATE_GOLDEN=1 rewrites the snapshots.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schema/wire_event.h"
#include "state/read_models.h"

namespace agentrt::state {
namespace {

std::filesystem::path golden_folder() {
  return std::filesystem::path(AGENTRT_SOURCE_DIR) / "tests/golden";
}

std::string read_file(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a log of an earlier build folds to the snapshot it had then") {
  std::size_t streams = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
    if (entry.path().extension() != ".jsonl") continue;
    CAPTURE(entry.path().string());
    ++streams;
    Session view;
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      const auto event = schema::read_event(line);
      REQUIRE(event.has_value());
      const auto fact = schema::decode(*event);
      REQUIRE(fact.has_value());
      fold(view, *fact);
    }
    const std::string snapshot = schema::to_json(session_snapshot(view)) + "\n";
    auto expected = entry.path();
    expected.replace_extension(".snapshot.json");
    if (std::getenv("AGENTRT_UPDATE_GOLDEN")) std::ofstream(expected) << snapshot;
    CHECK(read_file(expected) == snapshot);
    CHECK(view.unknown_facts == 0);
  }
  CHECK(streams > 0);
}

}  // namespace agentrt::state

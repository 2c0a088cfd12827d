// validate/replay_test.cc: a snapshot is compared with the one that its stream yields.
#include "validate/replay.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "schema/wire_event.h"
#include "state/read_models.h"

namespace agentrt::validate {
namespace {

std::vector<std::string> golden() {
  const auto path =
      std::filesystem::path(AGENTRT_SOURCE_DIR) / "tests/golden/0001-first-release.jsonl";
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  REQUIRE(lines.size() > 100);
  return lines;
}

// The snapshot after the first `count` events.
std::string snapshot_after(const std::vector<std::string>& lines, std::size_t count) {
  state::Session view;
  for (std::size_t i = 0; i < count; ++i)
    state::fold(view, *schema::decode(*schema::read_event(lines[i])));
  return schema::to_json(state::session_snapshot(view));
}

std::vector<std::string> differences(const std::string& snapshot,
                                     const std::vector<std::string>& lines) {
  auto replay = Replay::of(snapshot);
  REQUIRE(replay.has_value());
  for (const std::string& line : lines) replay->event(line);
  return replay->differences();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the snapshot of any moment is what the stream up to it gives") {
  const auto lines = golden();
  for (const std::size_t count : {1u, 8u, 40u, 72u, 152u}) {
    CAPTURE(count);
    CHECK(differences(snapshot_after(lines, count), lines).empty());
  }
}

TEST_CASE("a snapshot that differs is reported by path") {
  const auto lines = golden();
  const std::string good = snapshot_after(lines, 40);
  const auto changed =
      differences(replaced(good, R"("title":"A golden session")", R"("title":"Another")"), lines);
  REQUIRE(changed.size() == 1);
  CHECK(changed.front() ==
        "title is \"Another\" in the snapshot, \"A golden session\" in the replayed stream");
  const auto queue =
      differences(replaced(good, R"("turnId":"turn_4")", R"("turnId":"turn_9")"), lines);
  REQUIRE_FALSE(queue.empty());
}

TEST_CASE("a snapshot newer than the stream, or of another session, is said to be") {
  auto lines = golden();
  const std::string late = snapshot_after(lines, 152);
  lines.resize(100);
  CHECK(differences(late, lines).front() ==
        "the snapshot is as of sequence 152, but the stream ends at 100");
  CHECK(differences(R"({"sessionId":"nobody"})", lines).front() ==
        "the stream has no session nobody");
}

TEST_CASE("members that only one side has are not compared, times are compared as instants") {
  std::vector<std::string> out;
  compare_json(R"({"a":1,"mine":2,"at":"2026-05-08T02:30:00Z"})",
               R"({"a":1,"yours":3,"at":"2026-05-08T02:30:00.000Z"})", out);
  CHECK(out.empty());
  compare_json(R"({"queuedTurns":[{"turnId":"u1"}]})", R"({"queuedTurns":[]})", out);
  CHECK(out.size() == 2);
}

TEST_CASE("what is no snapshot is refused") {
  CHECK_FALSE(Replay::of("[]").has_value());
  CHECK_FALSE(Replay::of("{").has_value());
  CHECK_FALSE(Replay::of(R"({"title":"x"})").has_value());
}

}  // namespace agentrt::validate

// conversation/compaction_test.cc: tests the texts of a compaction.
#include "conversation/compaction.h"

#include <doctest/doctest.h>

#include "base/tokens.h"

namespace agentrt::conversation {
namespace {

ports::Message message(ports::Role role, const std::string& text) {
  ports::Message out;
  out.role = role;
  out.text = text;
  return out;
}

Covered conversation(std::size_t turns, std::size_t answer_bytes, std::uint64_t window) {
  Covered out;
  out.window_tokens = window;
  for (std::size_t i = 0; i < turns; ++i) {
    out.questions.push_back(out.messages.size());
    out.messages.push_back(message(ports::Role::user, "question " + std::to_string(i)));
    ports::Message answer = message(ports::Role::assistant, std::string(answer_bytes, 'a'));
    out.messages.push_back(std::move(answer));
  }
  return out;
}

}  // namespace

TEST_CASE("pieces have at most half a window each, and contain all of the text") {
  const Covered covered = conversation(20, 1'000, 2'000);
  const auto pieces = pieces_of(covered).texts;
  REQUIRE(pieces.size() > 1);
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) {
    CHECK(piece.size() <= 2'000 * kBytesPerToken / 2);
    bytes += piece.size();
  }
  CHECK(bytes > 20 * 1'000);
  CHECK(pieces.front().starts_with("User:\nquestion 0"));
  CHECK(pieces_of(covered).omitted_bytes == 0);
  const Pieces many = pieces_of(conversation(2'000, 3'000, 2'000));
  CHECK(many.texts.size() == kPiecesMax);
  CHECK(many.omitted_bytes > 2'000 * 3'000 / 2);
  CHECK(pieces_of(Covered{}).texts.empty());
}

TEST_CASE("only what comes before the turn is covered until a model has answered it") {
  ports::HistoryWindow window;
  window.messages = {message(ports::Role::user, "old"), message(ports::Role::assistant, "yes"),
                     message(ports::Role::user, "new")};
  window.own = 2;
  window.questions = {0, 2};
  const Covered before = covered_part(window, false, 1'000);
  CHECK(before.messages.size() == 2);
  CHECK(before.questions == std::vector<std::size_t>{0});
  window.answered = true;
  CHECK(covered_part(window, false, 1'000).messages.size() == 3);
}

TEST_CASE("a continuation keeps the user's words, the plan, files and open work") {
  Covered covered = conversation(6, 500, 1'000);
  covered.messages[1].calls.push_back(
      {ToolCallId{"a"}, "update_plan", schema::Json{R"({"plan":[1]})"}});
  covered.messages[1].calls.push_back(
      {ToolCallId{"b"}, "write_file", schema::Json{R"({"path":"src/a.cc","content":"x"})"}});
  OpenWork work{.lines = {"Open action act_1: may I?"}, .surroundings = "Folder: /w"};
  const std::string first = continuation_of(covered, "the summary", work);
  for (const char* kept : {"the summary", "question 0", "question 5", R"(Plan: {"plan":[1]})",
                           "Changed file: src/a.cc", "Open action act_1: may I?", "Folder: /w"})
    CHECK_MESSAGE(first.contains(kept), kept);
  CHECK(first.size() < 6 * 500);

  SUBCASE("the next one keeps them too, and its first request begins with the last summary") {
    Covered next = conversation(1, 10, 1'000);
    next.messages.insert(next.messages.begin(), message(ports::Role::user, first));
    next.questions = {1};
    next.continued = true;
    for (const std::string& piece : pieces_of(next).texts)
      CHECK_FALSE(piece.contains("the summary"));
    ports::ModelRequest request;
    put_summary_request(next, pieces_of(next).texts.front(), "", request);
    CHECK(request.tools.empty());
    CHECK(request.messages.front().text.contains("the summary"));
    const std::string second = continuation_of(next, "another summary", {});
    CHECK(second.contains("question 5"));
    CHECK(second.contains("Changed file: src/a.cc"));
    CHECK_FALSE(second.contains("the summary"));
  }
}

TEST_CASE("the newest message of the user is kept even if it is long, older ones as they fit") {
  Covered covered = conversation(2, 10, 1'000);
  covered.messages[0].text = std::string(250, 'o');
  covered.messages[2].text = std::string(400, 'n');
  const std::string text = continuation_of(covered, "s", {});
  CHECK(text.contains(std::string(400, 'n')));
  CHECK_FALSE(text.contains(std::string(250, 'o')));
}

TEST_CASE("the refs that a text names are found once each") {
  CHECK(refs_in("see output:out_1, output:out_2. and output:out_1 or output:proc_3") ==
        std::vector<std::string>{"out_1", "out_2"});
}

}  // namespace agentrt::conversation

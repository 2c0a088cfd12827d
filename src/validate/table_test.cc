// validate/table_test.cc: the judge's memory is bounded, and it reports no violation about
// forgotten objects.
#include "validate/table.h"

#include <malloc.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "validate/judge.h"

namespace agentrt::validate {
namespace {

// A session of turns that are submitted, started and ended in sequence.
class LongSession {
 public:
  LongSession() {
    say("session.created", "", R"({"cwd":"/"})");
    say("thread.started", R"(,"threadId":"t")", R"({"status":"idle"})");
  }

  void turns(std::uint64_t count) {
    for (; count > 0; --count) {
      ++turn_;
      about_turn(turn_, "turn.submitted", R"({"status":"accepted","input":[],"source":"user"})");
      about_turn(turn_, "turn.started", R"({"status":"running"})");
      about_turn(turn_, "turn.failed", R"({"status":"failed","reason":"it broke"})");
    }
  }
  void about_turn(std::uint64_t turn, std::string_view type, std::string_view payload) {
    say(type, fmt::format(R"(,"threadId":"t","turnId":"u{}")", turn), payload);
  }
  const Report& report() { return judge_.finish(); }

 private:
  void say(std::string_view type, std::string_view ids, std::string_view payload) {
    ++sequence_;
    judge_.line(
        fmt::format(R"({{"type":"{}","eventId":"e{}","schemaVersion":"1",)"
                    R"("timestamp":"2026-05-08T00:00:00.000Z","sequence":{},"runtimeId":"r",)"
                    R"("sessionId":"s"{},"payload":{}}})",
                    type, sequence_, sequence_, ids, payload));
  }

  Judge judge_;
  std::uint64_t sequence_ = 0;
  std::uint64_t turn_ = 0;
};

}  // namespace

TEST_CASE("what has ended is remembered for a while and forgotten, oldest first") {
  Table<int> table;
  for (Key key = 1; key <= kEndedRemembered; ++key) {
    table.at(key) = 7;
    table.end(key);
  }
  CHECK(table.find(1) != nullptr);
  CHECK(!table.forgot());
  table.at(kEndedRemembered + 1);
  table.end(kEndedRemembered + 1);
  CHECK(table.find(1) == nullptr);
  CHECK(table.find(2) != nullptr);
  CHECK(table.forgot());
  CHECK(table.size() == kEndedRemembered);
  CHECK(table.open() == 0);
}

TEST_CASE("what is open is kept, up to a limit") {
  Table<int> table;
  for (Key key = 1; key <= kOpenMax; ++key) table.at(key);
  CHECK(!table.forgot());
  CHECK(table.open() == kOpenMax);
  table.at(kOpenMax + 1);
  CHECK(table.forgot());
  CHECK(table.open() == kOpenMax);
  CHECK(table.find(1) == nullptr);
  CHECK(table.find(kOpenMax + 1) != nullptr);
}

TEST_CASE("an object that continues after all is not forgotten with those that have ended") {
  Table<int> table;
  table.at(1) = 5;
  table.end(1);
  table.reopen(1);
  for (Key key = 2; key <= kEndedRemembered + 5; ++key) {
    table.at(key);
    table.end(key);
  }
  REQUIRE(table.find(1) != nullptr);
  CHECK(*table.find(1) == 5);
  table.end(99'999);  // ending or reopening an unknown object has no effect
  table.reopen(99'999);
  CHECK(table.open() == 1);
}

TEST_CASE("ids are told apart by the session that they belong to") {
  CHECK(key_of(1, "a") != key_of(2, "a"));
  CHECK(key_of(1, "a") != key_of(1, "b"));
}

TEST_CASE("a second end is recognised while it is remembered, and excused when it is forgotten") {
  LongSession session;
  session.turns(kEndedRemembered);
  session.about_turn(kEndedRemembered, "turn.failed", R"({"status":"failed","reason":"again"})");
  CHECK(session.report().counts.size() == 1);
  CHECK(session.report().unjudged == 0);
  session.turns(kEndedRemembered + 2);
  session.about_turn(1, "turn.failed", R"({"status":"failed","reason":"again"})");
  CHECK(session.report().counts.size() == 1);
  CHECK(session.report().counts.front().times == 1);
  CHECK(session.report().unjudged > 0);
}

TEST_CASE("a stream twice as long takes no more memory") {
  const auto used = [] { return mallinfo2().uordblks; };
  LongSession session;
  session.turns(2 * kEndedRemembered);
  const std::size_t before = used();
  session.turns(2 * kEndedRemembered);
  constexpr std::size_t kSlack = 512 * 1024;
  CHECK(used() <= before + kSlack);
  CHECK(session.report().events == 2 + 12 * kEndedRemembered);
}

}  // namespace agentrt::validate

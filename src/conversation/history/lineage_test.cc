// conversation/history/lineage_test.cc: tests which facts belong to the conversation of a thread
// that was forked or rolled back.
#include "conversation/history/lineage.h"

#include <doctest/doctest.h>

#include "conversation/history/testing/history_desk.h"

namespace agentrt::conversation {

using namespace schema;
using state::Given;
using state::kSession;
using Desk = HistoryDesk;

namespace {

// A story whose turns are asked and completed one after the other, in memory and in the log.
struct Story {
  Story() { given.session().thread_started(); }

  Story& turn(const std::string& name, const ThreadId& thread = state::kThread) {
    given.running(name, thread).asked(name, thread).completed(name, "To " + name + ".", thread);
    return *this;
  }
  // Back to the end of the turn.
  Story& back_to(const std::string& name) {
    RollbackCompleted fact{.target_turn_id = state::turn_ids(name).turn};
    fact.baseline_sequence = end_of(name);
    given.fact(ThreadScope{kSession, state::kThread}, std::move(fact));
    return *this;
  }
  Story& fork(const ThreadId& thread, const std::string& name) {
    given.fact(
        ThreadScope{kSession, thread},
        ThreadStarted{.forked_from = ForkPoint{kSession, state::kThread, state::turn_ids(name).turn,
                                               end_of(name), "ab"}});
    return *this;
  }
  Sequence end_of(const std::string& name) const {
    for (const Fact& fact : given.log())
      if (fact.ids.turn_id == state::turn_ids(name).turn &&
          std::holds_alternative<TurnCompleted>(fact.payload))
        return fact.sequence;
    return 0;
  }
  // The conversation of a turn that is asked now consists of these turns.
  void check(const std::string& name, const std::vector<std::string>& earlier,
             const ThreadId& thread = state::kThread) {
    given.running(name, thread).asked(name, thread);
    Lines expected;
    for (const std::string& each : earlier) {
      expected.push_back("user: ask " + each);
      expected.push_back("assistant: To " + each + ".");
    }
    expected.push_back("user: ask " + name);
    for (; added < given.log().size(); ++added) kept.add(given.log()[added]);
    const Desk desk{given};
    CHECK(told(desk.window(name).messages) == expected);
    CHECK(told(desk.window(kept, desk.query(name)).messages) == expected);
    given.completed(name, "To " + name + ".", thread);
  }

  Given given;
  KeptConversations kept{1 << 20};
  std::size_t added = 0;
};

}  // namespace

TEST_CASE("a rollback takes turns out of the conversation, one within the other") {
  Story story;
  story.turn("1").turn("2").turn("3").back_to("2");
  story.check("4", {"1", "2"});
  story.back_to("2");
  story.check("5", {"1", "2"});
  story.check("6", {"1", "2", "5"});
  story.back_to("1");
  story.check("7", {"1"});
  story.back_to("7");
  story.check("8", {"1", "7"});
  const Desk desk{story.given};
  const auto live = live_ranges(desk.store, kSession, state::kThread, story.given.view().sequence);
  REQUIRE(live.has_value());
  CHECK(live->size() == 3);
  for (const char* name : {"1", "7", "8"}) CHECK(contains(*live, story.end_of(name)));
  for (const char* name : {"2", "3", "4", "5", "6"})
    CHECK_FALSE(contains(*live, story.end_of(name)));
  const auto newest = live_ranges(desk.store, kSession, state::kThread, story.given.view().sequence,
                                  story.end_of("7"));
  REQUIRE(newest.has_value());
  CHECK(newest->size() == 1);
}

TEST_CASE("a fork starts from a removed turn as it was") {
  const ThreadId a{"fork_a"};
  const ThreadId b{"fork_b"};
  Story story;
  story.turn("1").turn("2").turn("3").back_to("1").turn("4");
  story.fork(a, "3");
  story.check("5", {"1", "2", "3"}, a);
  story.fork(b, "4");
  story.check("6", {"1", "4"}, b);
  story.back_to("1");
  story.check("7", {"1", "4", "6"}, b);
  story.check("8", {"1"});
}

TEST_CASE("a query from before a rollback leaves nothing behind") {
  Story story;
  story.turn("1").turn("2");
  story.given.running("3").asked("3");
  for (; story.added < story.given.log().size(); ++story.added)
    story.kept.add(story.given.log()[story.added]);
  const Desk before{story.given};
  const ports::HistoryQuery late = before.query("3");
  story.given.completed("3");
  story.back_to("1");
  story.given.running("4").asked("4");
  for (; story.added < story.given.log().size(); ++story.added)
    story.kept.add(story.given.log()[story.added]);
  const Desk after{story.given};
  const Lines expected{"user: ask 1", "assistant: To 1.", "user: ask 4"};
  CHECK(before.window(story.kept, late).messages.size() == 5);
  CHECK(told(after.window(story.kept, after.query("4")).messages) == expected);
  // The late query neither gets nor replaces the conversation after the rollback.
  CHECK(before.window(story.kept, late).messages.size() == 5);
  CHECK(told(after.window(story.kept, after.query("4")).messages) == expected);
}

TEST_CASE("what a removed turn compacted is sent as it was before") {
  Story story;
  story.turn("1").turn("2");
  const Sequence covered = story.given.view().sequence;
  story.given.running("3");
  story.given.fact(state::turn_scope("3"),
                   CompactionCompleted{.continuation_ref = "out_c", .covers_through = covered});
  story.given.asked("3").completed("3", "To 3.");
  story.back_to("2");
  story.check("4", {"1", "2"});
}

TEST_CASE("a fork in another session begins with the turns of the first one") {
  const SessionId other{"sess_2"};
  const ThreadId thread{"thread_2"};
  Story story;
  story.turn("1").turn("2").turn("3").back_to("2").turn("4");
  Desk desk{story.given};
  store::Append append;
  append.session = other;
  const auto add = [&](const auto& where, auto payload) {
    Draft draft{where, std::move(payload)};
    draft.ids.session = other;
    append.events.push_back(
        encode(draft, append.events.size() + 1, state::kStart, desk.store.runtime()));
  };
  const auto scope = state::turn_scope("9", thread);
  add(scope, TurnSubmitted{.input = {{InputKind::text, "ask 9", {}}}, .source = "user"});
  add(scope, TurnStarted{});
  add(state::model_scope("9", thread), ModelCompleted{.text = "To 9."});
  REQUIRE(desk.store.commit(std::span(&append, 1)).front().has_value());
  ports::HistoryQuery query;
  query.session = other;
  query.thread = thread;
  query.turn = state::turn_ids("9").turn;
  query.submitted = 1;
  query.up_to = 3;
  query.inherited = {{kSession, state::kThread, story.end_of("4")}};
  KeptConversations kept{1 << 20};
  const Lines expected{"user: ask 1", "assistant: To 1.", "user: ask 2", "assistant: To 2.",
                       "user: ask 4", "assistant: To 4.", "user: ask 9", "assistant: To 9."};
  CHECK(told(desk.window(kept, query).messages) == expected);
  CHECK(told(desk.window(kept, query).messages) == expected);
  // If it does not fit, all turns of the other session are left out together.
  query.fit_bytes = 20;
  const ports::HistoryWindow cut = desk.window(kept, query);
  CHECK(told(cut.messages) == Lines{"user: ask 9", "assistant: To 9."});
  CHECK(cut.omitted_through == 1);
  query.fit_bytes.reset();
  query.omitted_through = 1;
  CHECK(told(desk.window(kept, query).messages) == Lines{"user: ask 9", "assistant: To 9."});
  // A compaction in the other session covers the turns before it.
  query.omitted_through = 0;
  query.covered_in = kSession;
  query.covered_through = story.end_of("2");
  query.continuation_ref = "out_c";
  KeptConversations none{0};
  const ports::HistoryWindow covered = desk.window(none, query);
  REQUIRE(covered.messages.size() == 5);
  REQUIRE(covered.messages.front().parts.size() == 1);
  CHECK(covered.messages.front().parts.front().session == kSession);
  CHECK(covered.messages[1].text == "ask 4");
}

TEST_CASE("a fork sends the turns that it inherits, and then its own") {
  Given given;
  KeptConversations kept{1 << 20};
  std::size_t added = 0;
  const auto fork = [&](const ThreadId& thread, const ThreadId& source, const std::string& turn,
                        Sequence end) {
    given.fact(ThreadScope{kSession, thread},
               ThreadStarted{.forked_from = ForkPoint{kSession, source, state::turn_ids(turn).turn,
                                                      end, "ab"}});
  };
  const auto check = [&](const std::string& turn, const Lines& expected) {
    for (; added < given.log().size(); ++added) kept.add(given.log()[added]);
    const Desk desk{given};
    CHECK(told(desk.window(turn).messages) == expected);
    CHECK(told(desk.window(kept, desk.query(turn)).messages) == expected);
  };
  const ThreadId a{"fork_a"};
  const ThreadId b{"fork_b"};
  given.session().thread_started().running("1").asked("1").completed("1", "One.");
  const Sequence first = given.view().sequence - 1;
  given.running("2").asked("2").completed("2", "Two.").running("3").asked("3");
  fork(a, state::kThread, "1", first);
  given.running("4", a).asked("4", a);
  const Lines one{"user: ask 1", "assistant: One."};
  check("4", {one[0], one[1], "user: ask 4"});
  given.completed("4", "Four.", a);
  const Sequence fourth = given.view().sequence - 1;
  given.completed("3", "Three.");
  given.running("5", a).asked("5", a);
  check("5", {one[0], one[1], "user: ask 4", "assistant: Four.", "user: ask 5"});
  fork(b, a, "4", fourth);
  given.completed("5", "Five.", a).running("6", b).asked("6", b);
  check("6", {one[0], one[1], "user: ask 4", "assistant: Four.", "user: ask 6"});
  kept.discard(kSession);
  given.completed("6", "Six.", b).running("7", b);
  check("7", {one[0], one[1], "user: ask 4", "assistant: Four.", "user: ask 6", "assistant: Six.",
              "user: ask 7"});
}

TEST_CASE("a turn that was running at the end of the inherited part is not inherited") {
  Given given;
  given.session().thread_started().running("1").asked("1").queued("2");
  given.fact(state::turn_scope("2"), TurnFailed{.status = Status::cancelled, .reason = "removed"});
  const ThreadId fork{"fork_a"};
  given.fact(ThreadScope{kSession, fork},
             ThreadStarted{.forked_from = ForkPoint{kSession, state::kThread, TurnId{"turn_2"},
                                                    given.view().sequence, "ab"}});
  given.completed("1", "One.").running("3", fork).asked("3", fork);
  CHECK(told(Desk{given}.window("3").messages) == Lines{"user: ask 3"});
}

}  // namespace agentrt::conversation

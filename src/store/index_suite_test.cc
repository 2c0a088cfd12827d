// store/index_suite_test.cc: index rows, tested for every store.

#include "store/testing/store_fixture.h"

namespace agentrt::store {
namespace {

IndexRow turn(const std::string& id, Sequence first, const std::string& thread = "thread_1") {
  return {"turn", id, thread, first, "running", true, fmt::format(R"({{"id":"{}"}})", id)};
}

Append with_rows(const SessionId& session, Sequence expected, std::vector<IndexRow> rows) {
  Append append = append_of(session, expected);
  append.index = std::move(rows);
  return append;
}

std::vector<std::string> ids(const Result<std::vector<IndexEntry>>& entries) {
  if (!entries) FAIL(entries.error().message);
  std::vector<std::string> out;
  for (const IndexEntry& entry : *entries) out.push_back(entry.row.id);
  return out;
}

using Ids = std::vector<std::string>;

}  // namespace

#define FOR_EVERY_STORE(sentence) TEST_CASE_TEMPLATE(sentence, Rig, MemoryRig, SqliteRig)

FOR_EVERY_STORE("an object is found by kind and id alone") {
  Rig rig;
  REQUIRE(commit_one(rig.store(), append_of(kBeta, 0)));
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, {turn("t1", 1)})));
  const auto found = rig.store().find("turn", "t1");
  REQUIRE(found);
  CHECK(*found == IndexEntry{kAlpha, 2, turn("t1", 1)});
  CHECK_FALSE(rig.store().find("task", "t1").value());
  CHECK_FALSE(rig.store().find("turn", "t2").value());
}

FOR_EVERY_STORE("a later row of the same object replaces the earlier one") {
  Rig rig;
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, {turn("t1", 1)})));
  IndexRow moved = turn("t1", 2, "thread_2");
  moved.status = "completed";
  moved.open = false;
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 1, {moved})));
  CHECK(rig.store().find("turn", "t1").value()->row == moved);
  CHECK(ids(rig.store().list({.kind = "turn", .session = kAlpha})) == Ids{"t1"});
  CHECK(ids(rig.store().list({.kind = "turn", .session = kAlpha, .parent = "thread_1"})).empty());
  CHECK(ids(rig.store().list({.kind = "turn", .session = kAlpha, .parent = "thread_2"})) ==
        Ids{"t1"});
}

FOR_EVERY_STORE("an id that another session owns is a conflict and writes nothing") {
  Rig rig;
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, {turn("t1", 1)})));
  const std::vector<Append> mixed = {with_rows(kBeta, 0, {turn("t2", 1), turn("t1", 1)}),
                                     with_rows(kAlpha, 1, {turn("t3", 2)})};
  const auto results = rig.store().commit(mixed);
  CHECK(results[0].error().code == Code::conflict);
  CHECK(results[1] == Result<Position>{2});
  CHECK(rig.store().head(kBeta) == Result<Sequence>{0});
  CHECK_FALSE(rig.store().find("turn", "t2").value());
  CHECK(rig.store().find("turn", "t1").value()->session == kAlpha);
  CHECK(commit_one(rig.store(), with_rows(kBeta, 0, {turn("t2", 1)})));
}

FOR_EVERY_STORE("windows over one session go from the newest back by cursor") {
  Rig rig;
  for (Sequence i = 1; i <= 7; ++i)
    REQUIRE(commit_one(rig.store(), with_rows(kAlpha, i - 1, {turn(fmt::format("t{}", i), i)})));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {turn("other", 1)})));
  IndexQuery query{.kind = "turn", .session = kAlpha, .limit = 3};
  CHECK(ids(rig.store().list(query)) == Ids{"t7", "t6", "t5"});
  query.before = 5;
  CHECK(ids(rig.store().list(query)) == Ids{"t4", "t3", "t2"});
  query.before = 2;
  CHECK(ids(rig.store().list(query)) == Ids{"t1"});
  query.before = 1;
  CHECK(ids(rig.store().list(query)).empty());
  CHECK(ids(rig.store().list({.kind = "turn", .session = SessionId{"nobody"}})).empty());
}

FOR_EVERY_STORE("a window under a parent holds only what is listed there") {
  Rig rig;
  for (Sequence i = 1; i <= 6; ++i)
    REQUIRE(commit_one(rig.store(), with_rows(kAlpha, i - 1,
                                              {turn(fmt::format("t{}", i), i,
                                                    i % 2 == 0 ? "thread_even" : "thread_odd")})));
  IndexQuery query{.kind = "turn", .session = kAlpha, .parent = "thread_even", .limit = 2};
  CHECK(ids(rig.store().list(query)) == Ids{"t6", "t4"});
  CHECK(rig.store().count(query) == Result<std::uint64_t>{3});
  CHECK(rig.store().count({.kind = "turn", .session = kAlpha}) == Result<std::uint64_t>{6});
  CHECK(rig.store().count({.kind = "task", .session = kAlpha}) == Result<std::uint64_t>{0});
  query.before = 4;
  CHECK(ids(rig.store().list(query)) == Ids{"t2"});
  query.parent = "";
  CHECK(rig.store().list(query).error().code == Code::invalid_params);
  CHECK(rig.store().list({.kind = "turn", .parent = "x"}).error().code == Code::invalid_params);
}

FOR_EVERY_STORE("objects that share their first fact are paged by id") {
  Rig rig;
  std::vector<IndexRow> rows;
  for (int i = 0; i < 5; ++i) rows.push_back(turn(fmt::format("t{}", i), 1));
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, rows)));
  IndexQuery query{.kind = "turn", .session = kAlpha, .limit = 2};
  Ids seen;
  for (;;) {
    const auto page = rig.store().list(query);
    REQUIRE(page);
    for (const IndexEntry& entry : *page) seen.push_back(entry.row.id);
    if (page->size() < query.limit) break;
    query.before = page->back().row.first;
    query.before_id = page->back().row.id;
  }
  CHECK(seen == Ids{"t4", "t3", "t2", "t1", "t0"});
}

FOR_EVERY_STORE("a list over all sessions goes from the newest session back") {
  Rig rig;
  for (int i = 1; i <= 5; ++i) {
    const SessionId session{fmt::format("s{}", i)};
    REQUIRE(commit_one(rig.store(),
                       with_rows(session, 0,
                                 {{"session", session.text(), "", 1, "active", false, "{}"},
                                  turn(fmt::format("a{}", i), 1),
                                  turn(fmt::format("b{}", i), 2)})));
  }
  IndexQuery query{.kind = "session", .limit = 2};
  CHECK(ids(rig.store().list(query)) == Ids{"s5", "s4"});
  query.before = 4;
  CHECK(ids(rig.store().list(query)) == Ids{"s3", "s2"});
  query.before = 2;
  CHECK(ids(rig.store().list(query)) == Ids{"s1"});
  CHECK(rig.store().list(query)->at(0).session == SessionId{"s1"});

  // With several entries per session, the cursor must hold the complete position.
  IndexQuery turns{.kind = "turn", .limit = 3};
  CHECK(ids(rig.store().list(turns)) == Ids{"b5", "a5", "b4"});
  turns.before = 4;
  turns.before_first = 2;
  turns.before_id = "b4";
  CHECK(ids(rig.store().list(turns)) == Ids{"a4", "b3", "a3"});
}

FOR_EVERY_STORE("sessions with open work are found, oldest first") {
  Rig rig;
  for (const char* name : {"s1", "s2", "s3"}) {
    const std::string id = name;
    REQUIRE(commit_one(rig.store(),
                       with_rows(SessionId{id}, 0, {turn("x" + id, 1), turn("y" + id, 1)})));
  }
  using Sessions = std::vector<SessionId>;
  CHECK(rig.store().open_sessions().value() ==
        Sessions{SessionId{"s1"}, SessionId{"s2"}, SessionId{"s3"}});
  IndexRow x = turn("xs2", 1);
  IndexRow y = turn("ys2", 1);
  x.open = y.open = false;
  REQUIRE(commit_one(rig.store(), with_rows(SessionId{"s2"}, 1, {x, y})));
  CHECK(rig.store().open_sessions().value() == Sessions{SessionId{"s1"}, SessionId{"s3"}});
}

FOR_EVERY_STORE("open rows of a kind are listed over all sessions, a page at a time") {
  Rig rig;
  IndexRow closed = turn("b1", 1);
  closed.open = false;
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, {turn("a1", 1), turn("a2", 1)})));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {closed, turn("b2", 1)})));
  IndexQuery open{.kind = "turn", .open_only = true, .limit = 2};
  CHECK(ids(rig.store().list(open)) == Ids{"b2", "a2"});
  open.before = 1;
  open.before_first = 1;
  open.before_id = "a2";
  CHECK(ids(rig.store().list(open)) == Ids{"a1"});
  open.session = kAlpha;
  CHECK(rig.store().list(open).error().code == Code::invalid_params);
}

FOR_EVERY_STORE("a list by term costs its own entries and follows every change of a row") {
  Rig rig;
  const auto task = [](const std::string& id, Sequence first, std::vector<std::string> terms) {
    IndexRow row{"task", id, "", first, "running", false, "{}"};
    row.terms = std::move(terms);
    return row;
  };
  REQUIRE(
      commit_one(rig.store(), with_rows(kAlpha, 0,
                                        {task("a1", 1, {"status=running", "parent=p"}),
                                         task("a2", 1, {"status=running"}), task("a3", 1, {})})));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {task("b1", 1, {"status=running"})})));
  IndexQuery running{.kind = "task", .session = kAlpha, .term = "status=running"};
  CHECK(ids(rig.store().list(running)) == Ids{"a2", "a1"});
  CHECK(rig.store().find("task", "a1").value()->row ==
        task("a1", 1, {"status=running", "parent=p"}));
  running.limit = 1;
  CHECK(ids(rig.store().list(running)) == Ids{"a2"});
  running.before = 1;
  running.before_id = "a2";
  CHECK(ids(rig.store().list(running)) == Ids{"a1"});
  IndexQuery oldest{.kind = "task", .session = kAlpha, .term = "status=running"};
  oldest.oldest_first = true;
  CHECK(ids(rig.store().list(oldest)) == Ids{"a1", "a2"});
  IndexQuery all{.kind = "task", .term = "status=running"};
  CHECK(ids(rig.store().list(all)) == Ids{"b1", "a2", "a1"});
  all.before = 1;
  all.before_first = 1;
  all.before_id = "a2";
  CHECK(ids(rig.store().list(all)) == Ids{"a1"});

  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 1, {task("a1", 1, {"status=failed"})})));
  CHECK(ids(rig.store().list(oldest)) == Ids{"a2"});
  CHECK(ids(rig.store().list({.kind = "task", .session = kAlpha, .term = "parent=p"})).empty());
  CHECK(ids(rig.store().list({.kind = "task", .session = kAlpha, .term = "status=failed"})) ==
        Ids{"a1"});
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 2, {task("a1", 1, {})})));
  CHECK(ids(rig.store().list({.kind = "task", .term = "status=failed"})).empty());

  REQUIRE(rig.store().rebuild(kAlpha, [&](const schema::StoredEvent&) {
    return std::vector<IndexRow>{task("a1", 1, {"status=lost"})};
  }));
  CHECK(ids(rig.store().list({.kind = "task", .term = "status=running"})) == Ids{"b1"});
  CHECK(ids(rig.store().list({.kind = "task", .term = "status=lost"})) == Ids{"a1"});
  CHECK(rig.store().list({.kind = "task", .term = ""}).error().code == Code::invalid_params);
  all.oldest_first = true;
  CHECK(rig.store().list(all).error().code == Code::invalid_params);
}

FOR_EVERY_STORE("rows with a due time are found earliest first") {
  Rig rig;
  const auto at = [](IndexRow row, std::optional<std::int64_t> due) {
    if (due) row.due = Timestamp{*due};
    return row;
  };
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0,
                                            {at(turn("late", 1), 300), at(turn("soon", 1), 100),
                                             at(turn("never", 1), std::nullopt)})));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {at(turn("next", 1), 200)})));
  CHECK(ids(rig.store().due(10)) == Ids{"soon", "next", "late"});
  CHECK(ids(rig.store().due(2)) == Ids{"soon", "next"});
  CHECK(rig.store().due(1).value().front() == IndexEntry{kAlpha, 1, at(turn("soon", 1), 100)});
  REQUIRE(commit_one(
      rig.store(),
      with_rows(kAlpha, 1, {at(turn("soon", 1), 400), at(turn("late", 1), std::nullopt)})));
  CHECK(ids(rig.store().due(10)) == Ids{"next", "soon"});
}

FOR_EVERY_STORE("a list by change begins with the row that a fact changed last") {
  Rig rig;
  const auto session = [](const SessionId& id, Sequence changed) {
    IndexRow row{"session", id.text(), "", 1, "idle", false, "{}"};
    row.changed = changed;
    return row;
  };
  const IndexQuery all{.kind = "session", .session = {}, .by_change = true, .limit = 2};
  REQUIRE(commit_one(rig.store(), with_rows(kAlpha, 0, {session(kAlpha, 1)})));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {session(kBeta, 1), turn("t1", 1)})));
  CHECK(ids(rig.store().list(all)) == Ids{kBeta.text(), kAlpha.text()});
  // Another fact of Alpha that changes its row, and one of Beta that does not.
  Append append = append_of(kAlpha, 1, 3);
  append.index = {session(kAlpha, 3)};
  REQUIRE(commit_one(rig.store(), append));
  REQUIRE(commit_one(rig.store(), append_of(kBeta, 1)));
  const auto entries = rig.store().list(all);
  CHECK(ids(entries) == Ids{kAlpha.text(), kBeta.text()});
  CHECK(entries->front().changed_at == 4);
  CHECK(entries->front().row.changed == 3);
  CHECK(entries->back().changed_at == 2);
  IndexQuery page = all;
  page.before = entries->front().changed_at;
  CHECK(ids(rig.store().list(page)) == Ids{kBeta.text()});
  page.before = 2;
  CHECK(ids(rig.store().list(page)).empty());
  // Rebuilding gives the same entries.
  REQUIRE(rig.store().rebuild(kAlpha, [&](const schema::StoredEvent& event) {
    if (event.sequence == 2 || event.sequence == 4) return std::vector<IndexRow>{};
    return std::vector<IndexRow>{session(kAlpha, event.sequence)};
  }));
  rig.reopen();
  CHECK(rig.store().list(all) == entries);
  page.session = kAlpha;
  CHECK(rig.store().list(page).error().code == Code::invalid_params);
}

FOR_EVERY_STORE("rebuild derives a session's rows from its log and drops its snapshot") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 5);
  append.index = {turn("stale", 1), {"task", "stale", "", 1, "lost", true, "{}"}};
  append.snapshot = Snapshot{5, 1, "view"};
  REQUIRE(commit_one(rig.store(), append));
  REQUIRE(commit_one(rig.store(), with_rows(kBeta, 0, {turn("kept", 1)})));

  std::vector<Sequence> seen;
  const Indexer indexer = [&](const schema::StoredEvent& event) {
    seen.push_back(event.sequence);
    IndexRow row = turn(event.sequence < 4 ? "made" : "later", event.sequence < 4 ? 1 : 4);
    row.status = fmt::format("at {}", event.sequence);
    row.open = false;
    return std::vector<IndexRow>{row};
  };
  REQUIRE(rig.store().rebuild(kAlpha, indexer));
  CHECK(seen == std::vector<Sequence>{1, 2, 3, 4, 5});
  CHECK(ids(rig.store().list({.kind = "turn", .session = kAlpha})) == Ids{"later", "made"});
  CHECK(rig.store().find("turn", "made").value()->row.status == "at 3");
  CHECK_FALSE(rig.store().find("task", "stale").value());
  CHECK_FALSE(rig.store().snapshot(kAlpha).value());
  CHECK(rig.store().find("turn", "kept").value());
  CHECK(rig.store().open_sessions().value() == std::vector<SessionId>{kBeta});
  CHECK(rig.store().rebuild(SessionId{"nobody"}, indexer).error().code == Code::not_found);
}

FOR_EVERY_STORE("rebuild of a session with a damaged row changes nothing") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 3);
  append.index = {turn("t1", 1)};
  append.snapshot = Snapshot{3, 1, "view"};
  REQUIRE(commit_one(rig.store(), append));
  rig.damage(kAlpha, 2);
  const auto done =
      rig.store().rebuild(kAlpha, [](const auto&) { return std::vector<IndexRow>{}; });
  CHECK(done.error().details == R"({"sessionId":"sess_alpha","sequence":2})");
  CHECK(rig.store().find("turn", "t1").value());
  CHECK(rig.store().snapshot(kAlpha).value());
}

}  // namespace agentrt::store

// store/sqlite/pack_test.cc: runs of fragments are packed, which readers cannot detect.
#include "store/sqlite/pack.h"

#include <sqlite3.h>

#include <fmt/format.h>

#include "store/testing/store_fixture.h"

namespace agentrt::store {
namespace {

constexpr std::size_t kAll = 1'000'000;

// One answer: `count` deltas and the fact that follows them.
Append answer(const SessionId& session, Sequence expected, std::size_t count) {
  Append append;
  append.session = session;
  append.expected = expected;
  for (std::size_t i = 0; i <= count; ++i) {
    schema::StoredEvent event = event_of(session, expected + 1 + i);
    event.type = i == count ? "model.completed" : "model.delta";
    event.scope = R"("threadId":"thread_1","turnId":"turn_1","modelRequestId":"mreq_1")";
    event.payload = fmt::format(R"({{"text":"word {} "}})", i);
    append.events.push_back(std::move(event));
  }
  return append;
}

std::int64_t ask(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) == SQLITE_OK);
  std::int64_t number = 0;
  if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

// Packs until nothing is left to scan; returns the number of calls.
int pack_all(Store& store, std::size_t rows_max = 1'000) {
  for (int calls = 1;; ++calls) {
    const auto more = store.pack(rows_max);
    REQUIRE(more);
    if (!*more) return calls;
  }
}

}  // namespace

TEST_CASE("what is packed comes back byte for byte, and other bytes are no pack") {
  std::vector<PackedRow> rows;
  for (int i = 0; i < 300; ++i) rows.push_back({"\"a\":\"b\"", fmt::format("{{\"n\":{}}}", i)});
  rows.push_back({"", "{}"});
  const std::string bytes = pack(rows);
  CHECK(unpack(bytes) == rows);
  CHECK(bytes.size() < 1'500);
  CHECK_FALSE(unpack(bytes.substr(0, bytes.size() - 5)));
  CHECK_FALSE(unpack("not a pack"));
  CHECK_FALSE(unpack(""));
}

TEST_CASE("runs that are over are packed, and every read is what it was") {
  TemporaryFolder folder;
  std::vector<schema::StoredEvent> alpha, beta;
  std::vector<Event> all;
  {
    const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
    for (int i = 0; i < 3; ++i)
      for (const SessionId& session : {kAlpha, kBeta})
        REQUIRE(commit_one(*store, answer(session, *store->head(session), 40)));
    Append open = answer(kAlpha, *store->head(kAlpha), 20);
    open.events.pop_back();  // an answer in progress
    REQUIRE(commit_one(*store, open));
    alpha = stored(*store, kAlpha);
    beta = stored(*store, kBeta);
    all = *store->all_events(0, kAll, kAll);
    pack_all(*store);
    CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM pack") == 6);
    CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM event WHERE payload IS NULL") == 240);
    CHECK(stored(*store, kAlpha) == alpha);
    CHECK(stored(*store, kBeta) == beta);
  }
  const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
  CHECK(stored(*store, kAlpha) == alpha);
  const auto again = *store->all_events(0, kAll, kAll);
  REQUIRE(again.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(again[i].position == all[i].position);
    CHECK(again[i].event == all[i].event);
  }
  // Reads that start within a pack work, and the hash chain continues after it.
  const auto from_within = *store->events(kBeta, 17, kAll, kAll);
  CHECK(from_within.front().event == beta[17]);
  CHECK(from_within.size() == beta.size() - 17);
  REQUIRE(commit_one(*store, answer(kAlpha, alpha.size(), 5)));
  // The open run is complete now: its twenty rows and five more form one pack.
  pack_all(*store);
  CHECK(ask(folder.file("store.db"), "SELECT max(last - first) FROM pack") == 39);
  CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM pack") == 7);
}

TEST_CASE("facts of a job's items are packed, whatever their types are") {
  TemporaryFolder folder;
  const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
  Append append;
  append.session = kAlpha;
  constexpr const char* kTypes[] = {"turn.submitted", "job.item.started", "tool.started",
                                    "job.item.completed"};
  for (Sequence i = 1; i <= 400; ++i) {
    schema::StoredEvent event = event_of(kAlpha, i);
    event.type = i % 40 == 0 ? "job.progress" : kTypes[i % 4];
    event.scope = i % 40 == 0 ? R"("jobId":"job_1")"
                              : fmt::format(R"("jobId":"job_1","jobItemId":"{}")", i / 4);
    append.events.push_back(std::move(event));
  }
  REQUIRE(commit_one(*store, append));
  const auto before = stored(*store, kAlpha);
  pack_all(*store, 150);
  CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM event WHERE payload IS NULL") == 390);
  CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM pack") == 10);
  CHECK(stored(*store, kAlpha) == before);
  CHECK(pack_all(*store) == 1);
}

TEST_CASE("few fragments are left alone, and many are packed a bounded piece at a time") {
  TemporaryFolder folder;
  const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
  REQUIRE(commit_one(*store, answer(kAlpha, 0, kPackRowsMin - 1)));
  CHECK(pack_all(*store) == 1);
  CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM pack") == 0);
  REQUIRE(commit_one(*store, answer(kBeta, 0, 5 * kPackRowsMax)));
  const auto before = stored(*store, kBeta);
  CHECK(pack_all(*store, 500) > 5);
  CHECK(ask(folder.file("store.db"), "SELECT count(*) FROM pack") == 5);
  CHECK(stored(*store, kBeta) == before);
}

TEST_CASE("a damaged pack is reported by its rows, and other sessions are served") {
  TemporaryFolder folder;
  const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
  for (const SessionId& session : {kAlpha, kBeta})
    REQUIRE(commit_one(*store, answer(session, 0, 40)));
  pack_all(*store);
  ask(folder.file("store.db"), "UPDATE pack SET bytes = substr(bytes, 1, 30) WHERE session = 1");
  const auto page = store->events(kAlpha, 0, kAll, kAll);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == Code::internal);
  CHECK(page.error().details.find("\"sequence\":1") != std::string::npos);
  CHECK(stored(*store, kBeta).size() == 41);
}

TEST_CASE("packing makes the log smaller") {
  TemporaryFolder folder;
  const auto store = open_sqlite(sqlite_options(folder.file("store.db")));
  for (int i = 0; i < 20; ++i)
    REQUIRE(commit_one(*store, answer(kAlpha, *store->head(kAlpha), 500)));
  constexpr const char* kBytes =
      "SELECT sum(length(scope) + coalesce(length(payload), 0)) + "
      "(SELECT coalesce(sum(length(bytes)), 0) FROM pack) FROM event";
  const std::int64_t before = ask(folder.file("store.db"), kBytes);
  pack_all(*store);
  CHECK(ask(folder.file("store.db"), kBytes) * 5 < before);
}

}  // namespace agentrt::store

// bench/raw_sqlite.cc: measures plain SQLite with the rows of an earlier measured run, as a
// baseline.
//
// It takes the newest session.updated rows of a store and the object row of each session, and
// writes them to a new file with the same tables, page size and pragmas, B appends per transaction.
// An append is one event insert and one object upsert, as in the store. Nothing is encoded, hashed
// or decided, so this is the upper bound.
//
// --checkpoint-pages 0 never checkpoints, so the write-ahead log only grows. N checkpoints every N
// pages and reuses the log, which costs a pause but makes the syncs in between cheaper. Which is
// faster depends on the disk; the better of the two counts.
//
// raw_sqlite --store FILE --out FILE --batch B --appends N [--checkpoint-pages 1000]
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "wire.h"

using namespace agentrt::bench;

namespace {

using Row = std::vector<sqlite3_value*>;

void expect(bool ok, sqlite3* database, const char* doing) {
  if (!ok) die(fmt::format("{}: {}", doing, sqlite3_errmsg(database)));
}

sqlite3* open(const std::string& path, int flags) {
  sqlite3* database = nullptr;
  expect(sqlite3_open_v2(path.c_str(), &database, flags, nullptr) == SQLITE_OK, database,
         path.c_str());
  return database;
}

void run(sqlite3* database, const std::string& sql) {
  expect(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, database,
         sql.c_str());
}

sqlite3_stmt* prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  expect(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK, database,
         sql.c_str());
  return statement;
}

std::vector<Row> rows(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = prepare(database, sql);
  std::vector<Row> out;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
      row.push_back(sqlite3_value_dup(sqlite3_column_value(statement, i)));
    out.push_back(std::move(row));
  }
  sqlite3_finalize(statement);
  return out;
}

std::string text_of(sqlite3_value* value) {
  return reinterpret_cast<const char*>(sqlite3_value_text(value));
}

void write(sqlite3* database, sqlite3_stmt* statement, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i)
    sqlite3_bind_value(statement, static_cast<int>(i) + 1, row[i]);
  expect(sqlite3_step(statement) == SQLITE_DONE, database, "writing a row");
  sqlite3_reset(statement);
}

std::string insert_into(const std::string& table, std::size_t columns) {
  std::string sql = "INSERT INTO " + table + " VALUES(?1";
  for (std::size_t i = 2; i <= columns; ++i) sql += fmt::format(",?{}", i);
  return sql + ")";
}

// The store's upsert: the identifying columns stay, the others are replaced.
std::string upsert_object(sqlite3* source, std::size_t columns) {
  std::string sql = insert_into("object", columns) + " ON CONFLICT(kind, id) DO UPDATE SET ";
  std::string separator;
  for (const Row& column : rows(source, "PRAGMA table_info(object)")) {
    const std::string name = text_of(column[1]);
    if (name == "kind" || name == "id" || name == "session") continue;
    sql += fmt::format("{0}{1}=excluded.{1}", separator, name);
    separator = ",";
  }
  return sql;
}

sqlite3* fresh_copy(sqlite3* source, const std::string& path, std::uint64_t checkpoint_pages) {
  for (const char* end : {"", "-wal", "-shm"}) unlink((path + end).c_str());
  sqlite3* out = open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  for (const char* pragma : {"page_size", "auto_vacuum"})
    run(out, fmt::format("PRAGMA {}={}", pragma,
                         text_of(rows(source, fmt::format("PRAGMA {}", pragma))[0][0])));
  run(out, fmt::format("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                       "PRAGMA wal_autocheckpoint={}",
                       checkpoint_pages));
  for (const Row& made : rows(source, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    run(out, text_of(made[0]));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const std::uint64_t batch = std::max<std::uint64_t>(1, options.number("batch", 16));
  sqlite3* source = open(options.text("store"), SQLITE_OPEN_READONLY);
  const auto events =
      rows(source, fmt::format("SELECT * FROM (SELECT * FROM event WHERE type = 'session.updated' "
                               "ORDER BY position DESC LIMIT {}) ORDER BY position",
                               options.number("appends", 20000)));
  if (events.empty()) die("the store has no session.updated rows");
  const auto objects = rows(source, "SELECT * FROM object WHERE kind = 'session'");
  sqlite3* out = fresh_copy(source, options.text("out"), options.number("checkpoint-pages", 1000));
  sqlite3_stmt* insert = prepare(out, insert_into("event", events[0].size()));
  sqlite3_stmt* upsert = prepare(out, upsert_object(source, objects[0].size()));

  const auto begun = Clock::now();
  for (std::size_t i = 0; i < events.size();) {
    run(out, "BEGIN IMMEDIATE");
    for (std::uint64_t n = 0; n < batch && i < events.size(); ++n, ++i) {
      write(out, insert, events[i]);
      write(out, upsert, objects[i % objects.size()]);
    }
    run(out, "COMMIT");
  }
  const double seconds = micros_since(begun) / 1e6;
  fmt::print(R"({{"appends":{},"batch":{},"seconds":{:.3f},"per_second":{:.0f}}})"
             "\n",
             events.size(), batch, seconds, static_cast<double>(events.size()) / seconds);
  return 0;
}

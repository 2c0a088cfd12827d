// store/sqlite/sqlite_store_test.cc: tests that are specific to the SQLite store: its file,
// versions, connections and limits.

#include "store/sqlite/sqlite_store.h"

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "store/row_check.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/heads.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/reader_pool.h"
#include "store/sqlite/writer.h"
#include "store/testing/store_fixture.h"

namespace agentrt::store {
namespace {

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_sql(const std::string& path, const char* sql) {
  auto connection = Connection::open(path, "", 1'000);
  REQUIRE(connection);
  REQUIRE(connection->run(sql));
}

}  // namespace

TEST_CASE("a store from a newer version is refused and left as it is") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  rig.run("PRAGMA user_version = 7");
  const std::string log = bytes_of_file(rig.path() + "-wal");
  const std::string database = bytes_of_file(rig.path());
  TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  std::filesystem::copy_file(rig.path(), path);
  std::filesystem::copy_file(rig.path() + "-wal", path + "-wal");

  const auto opened = SqliteStore::open(sqlite_options(path));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::unavailable);
  CHECK(opened.error().message.find("schema version 7") != std::string::npos);
  CHECK(bytes_of_file(path) == database);
  CHECK(bytes_of_file(path + "-wal") == log);
}

TEST_CASE("a file that is not a store is refused and left as it is") {
  TemporaryFolder folder;
  const std::string text = folder.file("notes.txt");
  std::ofstream(text) << "a shopping list, and long enough to be looked at: "
                      << std::string(500, 'x');
  const std::string before = bytes_of_file(text);
  CHECK(SqliteStore::open(sqlite_options(text)).error().code == Code::unavailable);
  CHECK(bytes_of_file(text) == before);

  const std::string other = folder.file("other.db");
  run_sql(other, "CREATE TABLE recipes(name)");
  const std::string other_before = bytes_of_file(other);
  const auto opened = SqliteStore::open(sqlite_options(other));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("is not an agentrt store") != std::string::npos);
  CHECK(bytes_of_file(other) == other_before);
  CHECK_FALSE(SqliteStore::open(sqlite_options(folder.file("missing/store.db"))));
}

TEST_CASE("migrations bring an older file forward, one transaction each") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  const Identity before{rig.store().runtime(), rig.store().generation(), rig.store().hash_key()};
  TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  rig.reopen();  // this empties the log into the database file
  std::filesystem::copy_file(rig.path(), path);

  SqliteOptions options = sqlite_options(path);
  const std::int64_t newest = migrations().back().version;
  std::vector<Migration> broken(migrations().begin(), migrations().end());
  broken.push_back({newest + 1, "CREATE TABLE two(x)"});
  broken.push_back({newest + 2, "CREATE TABLE three(x); INSERT INTO nowhere VALUES(1)"});
  options.migrations = broken;
  CHECK_FALSE(SqliteStore::open(options));
  {
    auto connection = Connection::open(path, "", 1'000);
    REQUIRE(connection);
    CHECK(connection->ask_number("PRAGMA user_version") == Result<std::int64_t>{newest + 1});
    CHECK(connection->ask_number("SELECT count(*) FROM sqlite_schema WHERE name = 'three'") ==
          Result<std::int64_t>{0});
  }
  std::vector<Migration> mended = broken;
  mended.back().sql = "CREATE TABLE three(x)";
  options.migrations = mended;
  const auto store = open_sqlite(options);
  CHECK(store->runtime() == before.runtime);
  CHECK(store->hash_key() == before.hash_key);
  CHECK(store->generation() != before.generation);  // the file is a copy
  CHECK(stored(*store, kAlpha).size() == 1);
  CHECK_FALSE(SqliteStore::open(sqlite_options(path)));  // of a newer build
}

TEST_CASE("a new store file is its owner's alone") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  for (const char* end : {"", "-wal", "-shm"}) {
    struct stat about{};
    REQUIRE(stat((rig.path() + end).c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
  }
}

TEST_CASE("network file systems are known by their type") {
  CHECK(network_file_system(0x6969) == "NFS");
  CHECK(network_file_system(0xFF534D42) == "CIFS");
  CHECK(network_file_system(0xFE534D42) == "SMB");
  CHECK(network_file_system(0x01021997) == "9p");
  CHECK_FALSE(network_file_system(0xEF53));      // ext4
  CHECK_FALSE(network_file_system(0x9123683E));  // btrfs
  CHECK_FALSE(network_file_system(0x01021994));  // tmpfs
}

// The expected value was computed independently, from docs/log_format.md.
TEST_CASE("the hash of a row is the documented one") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0, 2)));
  auto connection = Connection::open(rig.path(), "", 1'000);
  REQUIRE(connection);
  const auto hash = [&](const char* sql) { return hex(connection->ask_blob(sql).value()); };
  CHECK(hash("SELECT hash FROM event WHERE sequence = 1") ==
        "826b6008d9fe8e69a39dbf817414b741a72254fe4017d94aec77630a9198ae9b");
  CHECK(hash("SELECT hash FROM event WHERE sequence = 2") ==
        "ea7461983acb3fc6377f1b5bc9e0e8d009045631857ad337551ce044909e8ad2");
}

TEST_CASE("every column of a row is covered by its hash") {
  for (const char* set :
       {"at = at + 1", "at = 9223372036854775807", "type = 'turn.failed'", "version = '9'",
        "runtime = 77", "scope = ''", "hash = zeroblob(32)", "hash = x''", "payload = NULL",
        "payload = '{}'", "payload = NULL, payload_sha256 = zeroblob(32)"}) {
    CAPTURE(set);
    SqliteRig rig;
    REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0, 3)));
    rig.update(kAlpha, 2, set);
    const auto page = rig.store().events(kAlpha, 0, 10, 1 << 20);
    REQUIRE_FALSE(page);
    CHECK(page.error().code == Code::internal);
    CHECK(page.error().details == R"({"sessionId":"sess_alpha","sequence":2})");
    const auto all = rig.store().all_events(0, 10, 1 << 20);
    REQUIRE(all);
    REQUIRE(all->size() == 3);
    CHECK_FALSE(all->at(0).damage);
    CHECK(all->at(1).damage);
  }
}

TEST_CASE("a row that is gone from the middle is named") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0, 4)));
  rig.run("DELETE FROM event WHERE sequence = 2");
  CHECK(rig.store().events(kAlpha, 0, 10, 1 << 20).error().details ==
        R"({"sessionId":"sess_alpha","sequence":2})");
  CHECK(rig.store().events(kAlpha, 2, 10, 1 << 20).error().details ==
        R"({"sessionId":"sess_alpha","sequence":2})");
  CHECK(rig.store().events(kAlpha, 3, 10, 1 << 20)->size() == 1);
  const auto all = rig.store().all_events(0, 10, 1 << 20);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK(all->at(1).event.sequence == 3);
  CHECK(all->at(1).damage->contains("event 2 of session sess_alpha is damaged: it is missing"));
  CHECK_FALSE(all->at(2).damage);
}

TEST_CASE("a row of a session whose name is lost is given as damaged") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0, 2)));
  REQUIRE(commit_one(rig.store(), append_of(kBeta, 0)));
  rig.run("DELETE FROM session WHERE id = 'sess_alpha'");
  const auto all = rig.store().all_events(0, 10, 1 << 20);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  CHECK(all->at(0).damage);
  CHECK(all->at(0).event.session == kLostSession);
  CHECK_FALSE(all->at(2).damage);
}

TEST_CASE("bytes that change on the disk are noticed wherever they are in the log") {
  SqliteRig rig;
  Append append = append_of(kAlpha, 0, 200);
  for (schema::StoredEvent& event : append.events)
    event.payload = fmt::format(R"({{"text":"{}"}})", std::string(700, 'q'));
  REQUIRE(commit_one(rig.store(), append));
  rig.reopen();
  TemporaryFolder folder;
  const std::string whole = bytes_of_file(rig.path());
  int noticed = 0;
  for (std::size_t at = whole.find("qqqq"); at < whole.size(); at += 9'973) {
    if (whole[at] != 'q') continue;
    const std::string path = folder.file(fmt::format("{}.db", at));
    std::string bytes = whole;
    bytes[at] ^= 4;
    std::ofstream(path, std::ios::binary) << bytes;
    const auto store = open_sqlite(sqlite_options(path));
    const auto page = store->events(kAlpha, 0, 1'000, 1 << 30);
    REQUIRE_FALSE(page);
    CHECK(page.error().code == Code::internal);
    CHECK(page.error().details.starts_with(R"({"sessionId":"sess_alpha","sequence":)"));
    ++noticed;
  }
  CHECK(noticed > 5);
}

TEST_CASE("a snapshot that does not match its checksum has no bytes") {
  SqliteRig rig;
  Append append = append_of(kAlpha, 0);
  append.snapshot = Snapshot{1, 1, "a view"};
  REQUIRE(commit_one(rig.store(), append));
  rig.run("UPDATE snapshot SET bytes = x'00'");
  CHECK(rig.store().snapshot(kAlpha).value() == Snapshot{1, 1, ""});
}

TEST_CASE("a store that another program has changed is read again, not written over") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  rig.run(
      "INSERT INTO event SELECT position + 1, session, sequence + 1, at, type, version, runtime, "
      "scope, hash, NULL, payload FROM event");
  CHECK(commit_one(rig.store(), append_of(kAlpha, 1)).error().code == Code::unavailable);
  CHECK(commit_one(rig.store(), append_of(kAlpha, 1)).error().code == Code::conflict);
  CHECK(commit_one(rig.store(), append_of(kBeta, 0)) == Result<Position>{3});
}

TEST_CASE("heads forgets the session unused for longest and is right when asked again") {
  Heads heads(2);
  heads.put(SessionId{"a"}, {1, 10, {}});
  heads.put(SessionId{"b"}, {2, 20, {}});
  REQUIRE(heads.find(SessionId{"a"}) != nullptr);
  heads.put(SessionId{"c"}, {3, 30, {}});
  CHECK(heads.find(SessionId{"b"}) == nullptr);
  CHECK(heads.find(SessionId{"a"})->sequence == 10);
  heads.drop(SessionId{"a"});
  heads.drop(SessionId{"never"});
  CHECK(heads.find(SessionId{"a"}) == nullptr);
  CHECK(heads.size() == 1);

  TemporaryFolder folder;
  SqliteOptions options = sqlite_options(folder.file("store.db"));
  options.limits.heads_max = 2;
  const auto store = open_sqlite(options);
  for (Sequence at = 0; at < 4; ++at) {
    std::vector<Append> appends;
    for (int s = 0; s < 7; ++s) appends.push_back(append_of(SessionId{fmt::format("s{}", s)}, at));
    for (const auto& result : store->commit(appends)) CHECK(result);
  }
  for (int s = 0; s < 7; ++s) CHECK(stored(*store, SessionId{fmt::format("s{}", s)}).size() == 4);
}

TEST_CASE("the write-ahead log stays bounded, whether or not anyone checkpoints") {
  TemporaryFolder folder;
  SqliteOptions options = sqlite_options(folder.file("store.db"));
  options.limits.checkpoint_wal_bytes = 256 << 10;
  options.limits.wal_bytes_max = 1 << 20;
  const auto store = open_sqlite(options);
  const auto write = [&](Sequence at) {
    Append append = append_of(kAlpha, at);
    append.events[0].payload = fmt::format(R"({{"text":"{}"}})", std::string(50'000, 'x'));
    REQUIRE(commit_one(*store, append));
  };
  std::uint64_t largest = 0;
  for (Sequence at = 0; at < 100; ++at) {
    write(at);
    largest = std::max(largest, std::filesystem::file_size(options.path + "-wal"));
  }
  CHECK(largest > (1 << 20));
  CHECK(largest < (2 << 20));
  CHECK(store->checkpoint_due());
  REQUIRE(store->checkpoint());
  CHECK_FALSE(store->checkpoint_due());
  CHECK(stored(*store, kAlpha).size() == 100);
}

TEST_CASE("the log's file is longer than the log, so that a commit writes over what is there") {
  TemporaryFolder folder;
  const SqliteOptions options = sqlite_options(folder.file("store.db"));
  const auto store = open_sqlite(options);
  store->make_room();  // before there is a log
  const auto file_bytes = [&] { return std::filesystem::file_size(options.path + "-wal"); };
  int lengthened = 0;
  std::uint64_t before = 0;
  for (Sequence at = 0; at < 400; ++at) {
    REQUIRE(commit_one(*store, append_of(kAlpha, at)));
    if (at > 0) CHECK(file_bytes() == before);
    store->make_room();
    CHECK(file_bytes() >= store->wal_bytes() + kLogRoomMin);
    CHECK(file_bytes() <= 2 * store->wal_bytes() + 2 * kLogStepMin);
    lengthened += file_bytes() != std::exchange(before, file_bytes()) ? 1 : 0;
  }
  CHECK(lengthened < 12);

  const std::string copy = folder.file("crash.db");  // copies of the files, as after a crash
  for (const char* end : {"", "-wal"}) std::filesystem::copy_file(options.path + end, copy + end);
  CHECK(stored(*open_sqlite(sqlite_options(copy)), kAlpha).size() == 400);
}

TEST_CASE("room is made behind what another program has added to the log") {
  SqliteRig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  run_sql(rig.path(), "CREATE TABLE recipes(name); INSERT INTO recipes VALUES('soup')");
  rig.store().make_room();
  rig.reopen();
  CHECK(stored(rig.store(), kAlpha).size() == 1);
  auto other = Connection::open(rig.path(), "", 1'000);
  REQUIRE(other);
  CHECK(other->ask_number("SELECT count(*) FROM recipes") == Result<std::int64_t>{1});
}

TEST_CASE("a closed store leaves its log empty and everything in the database file") {
  TemporaryFolder folder;
  const SqliteOptions options = sqlite_options(folder.file("store.db"));
  REQUIRE(commit_one(*open_sqlite(options), append_of(kAlpha, 0, 3)));
  CHECK(std::filesystem::file_size(options.path + "-wal") == 0);
  std::filesystem::remove(options.path + "-wal");
  std::filesystem::remove(options.path + "-shm");
  CHECK(stored(*open_sqlite(options), kAlpha).size() == 3);
}

TEST_CASE("a read that finds every connection in use gives up as overloaded") {
  TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  ReaderPool pool([&] { return Connection::open(path, "", 1'000); }, 2,
                  std::chrono::milliseconds(20));
  auto first = pool.take();
  REQUIRE(first);
  {
    auto second = pool.take();
    REQUIRE(second);
    CHECK(pool.take().error().code == Code::overloaded);
  }
  CHECK(pool.take());
}

TEST_CASE("reads on other threads see whole commits while one thread writes and one checkpoints") {
  TemporaryFolder folder;
  SqliteOptions options = sqlite_options(folder.file("store.db"));
  options.limits.readers_max = 2;
  options.limits.checkpoint_wal_bytes = 64 << 10;
  const auto store = open_sqlite(options);
  constexpr Sequence kCommits = 200;
  std::atomic<Sequence> acknowledged{0};
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};

  const auto read = [&] {
    while (!done) {
      const Sequence floor = acknowledged.load();
      const auto head = store->head(kAlpha);
      if (!head || *head < floor || *head % 3 != 0) ++wrong;
      if (floor == 0) continue;
      const auto page = store->events(kAlpha, floor - 3, 10, 1 << 20);
      if (!page || page->size() < 3) ++wrong;
      if (!store->all_events(floor - 3, 5, 1 << 20)) ++wrong;
      const auto row = store->find("turn", "t");
      if (!row || !*row || (*row)->row.first < floor) ++wrong;
    }
  };
  std::thread readers[] = {std::thread(read), std::thread(read), std::thread(read)};
  std::thread checkpoints([&] {
    while (!done)
      if (!store->checkpoint()) ++wrong;
  });
  for (Sequence i = 0; i < kCommits; ++i) {
    Append append = append_of(kAlpha, i * 3, 3);
    append.index = {{"turn", "t", "", (i + 1) * 3, "running", true, "{}"}};
    if (!commit_one(*store, append)) ++wrong;
    acknowledged = (i + 1) * 3;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  checkpoints.join();
  CHECK(wrong == 0);
  CHECK(store->head(kAlpha) == Result<Sequence>{kCommits * 3});
}

TEST_CASE("failures are sorted by what must be done about them") {
  CHECK(sort_fault(SQLITE_IOERR_FSYNC, ENOSPC) == Fault::sync);
  CHECK(sort_fault(SQLITE_IOERR_DIR_FSYNC, 0) == Fault::sync);
  CHECK(sort_fault(SQLITE_FULL, 0) == Fault::full);
  CHECK(sort_fault(SQLITE_IOERR_WRITE, ENOSPC) == Fault::full);
  CHECK(sort_fault(SQLITE_IOERR_WRITE, EDQUOT) == Fault::full);
  CHECK(sort_fault(SQLITE_IOERR_WRITE, EIO) == Fault::other);
  CHECK(sort_fault(SQLITE_IOERR_SHMSIZE, 0) == Fault::full);
  CHECK(sort_fault(SQLITE_CORRUPT_INDEX, 0) == Fault::damaged);
  CHECK(sort_fault(SQLITE_CORRUPT, 0, EIO) == Fault::unreadable);
  CHECK(sort_fault(SQLITE_IOERR_READ, EIO) == Fault::unreadable);
  CHECK(sort_fault(SQLITE_IOERR_CORRUPTFS, EIO) == Fault::unreadable);
  CHECK(sort_fault(SQLITE_CONSTRAINT_UNIQUE, 0) == Fault::taken);
  CHECK(sort_fault(SQLITE_BUSY, 0) == Fault::other);
}

}  // namespace agentrt::store

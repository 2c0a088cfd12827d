// store/sqlite/fault_vfs_test.cc: tests the store with a failing disk, call by call.
//
// A VFS around the default one makes the n-th write, sync or shared-memory growth fail, once or
// permanently. Each test then checks the results of the appends, what can still be read, and what a
// store opened afterwards finds.

#include <sqlite3.h>

#include <fstream>
#include <functional>

#include "store/testing/store_fixture.h"

namespace agentrt::store {
namespace {

enum class Call { read, write, sync, grow_shared };

// Which calls fail, and how. Calls are counted from arm() on.
struct FaultPlan {
  Call call = Call::write;
  int code = SQLITE_OK;  // result of the failing call; OK: none fails
  int first = 0;         // the n-th such call fails, from 1
  int times = 1;         // how many calls fail from there on
  int seen = 0;

  void arm(Call which, int result, int nth, int count) { *this = {which, result, nth, count, 0}; }
  void mend() { code = SQLITE_OK; }
  bool hit() const { return seen >= first; }

  int before(Call made) {
    if (code == SQLITE_OK || made != call) return SQLITE_OK;
    ++seen;
    return seen >= first && seen < first + times ? code : SQLITE_OK;
  }
};

FaultPlan plan;

struct FaultFile {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* real_of(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file)->real; }
const sqlite3_io_methods* methods_of(sqlite3_file* file) { return real_of(file)->pMethods; }

int fault_read(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
  if (const int code = plan.before(Call::read); code != SQLITE_OK) {
    errno = EIO;
    return code;
  }
  return methods_of(file)->xRead(real_of(file), to, count, at);
}

int fault_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  if (const int code = plan.before(Call::write); code != SQLITE_OK) return code;
  return methods_of(file)->xWrite(real_of(file), bytes, count, at);
}

int fault_sync(sqlite3_file* file, int flags) {
  if (const int code = plan.before(Call::sync); code != SQLITE_OK) return code;
  return methods_of(file)->xSync(real_of(file), flags);
}

int fault_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  if (page > 0)
    if (const int code = plan.before(Call::grow_shared); code != SQLITE_OK) return code;
  return methods_of(file)->xShmMap(real_of(file), page, size, extend, out);
}

const sqlite3_io_methods kFaultMethods = {
    2,
    [](sqlite3_file* f) { return methods_of(f)->xClose(real_of(f)); },
    fault_read,
    fault_write,
    [](sqlite3_file* f, sqlite3_int64 size) { return methods_of(f)->xTruncate(real_of(f), size); },
    fault_sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods_of(f)->xFileSize(real_of(f), size); },
    [](sqlite3_file* f, int lock) { return methods_of(f)->xLock(real_of(f), lock); },
    [](sqlite3_file* f, int lock) { return methods_of(f)->xUnlock(real_of(f), lock); },
    [](sqlite3_file* f, int* out) { return methods_of(f)->xCheckReservedLock(real_of(f), out); },
    [](sqlite3_file* f, int op, void* arg) {
      return methods_of(f)->xFileControl(real_of(f), op, arg);
    },
    [](sqlite3_file* f) { return methods_of(f)->xSectorSize(real_of(f)); },
    [](sqlite3_file* f) { return methods_of(f)->xDeviceCharacteristics(real_of(f)); },
    fault_shm_map,
    [](sqlite3_file* f, int at, int n, int flags) {
      return methods_of(f)->xShmLock(real_of(f), at, n, flags);
    },
    [](sqlite3_file* f) { methods_of(f)->xShmBarrier(real_of(f)); },
    [](sqlite3_file* f, int remove) { return methods_of(f)->xShmUnmap(real_of(f), remove); },
    nullptr,
    nullptr,
};

int fault_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  auto* system = static_cast<sqlite3_vfs*>(vfs->pAppData);
  auto* fault = reinterpret_cast<FaultFile*>(file);
  fault->real = reinterpret_cast<sqlite3_file*>(fault + 1);
  const int code = system->xOpen(system, name, fault->real, flags, out);
  fault->base.pMethods = fault->real->pMethods == nullptr ? nullptr : &kFaultMethods;
  return code;
}

constexpr const char* kFaultVfs = "agentrt_fault_test";

// Registers the VFS once. It differs from the default only in its files.
void register_fault_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *system;
    copy.zName = kFaultVfs;
    copy.pAppData = system;
    copy.pNext = nullptr;
    copy.szOsFile = static_cast<int>(sizeof(FaultFile)) + system->szOsFile;
    copy.xOpen = fault_open;
    return copy;
  }();
  if (sqlite3_vfs_find(kFaultVfs) == nullptr) REQUIRE(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

// A store on the failing disk, with one session that has one event.
class FaultRig {
 public:
  FaultRig() {
    register_fault_vfs();
    plan = {};
    reopen();
    REQUIRE(commit_one(store(), append_of(kAlpha, 0)));
  }
  ~FaultRig() { plan = {}; }

  SqliteStore& store() { return *store_; }
  std::string path() const { return folder_.file("store.db"); }
  const std::vector<std::string>& sync_failures() const { return sync_failures_; }
  SqliteOptions options() {
    SqliteOptions options = sqlite_options(path());
    options.vfs = kFaultVfs;
    options.on_sync_failure = [this](const std::string& what) { sync_failures_.push_back(what); };
    return options;
  }
  void reopen() {
    plan.mend();
    store_.reset();
    store_ = open_sqlite(options());
  }
  // Opens a store on a copy of the current files, as after a crash.
  std::unique_ptr<SqliteStore> as_after_crash() {
    const std::string copy = folder_.file("crash.db");
    std::filesystem::remove(copy + "-shm");
    for (const char* end : {"", "-wal"})
      std::filesystem::copy_file(path() + end, copy + end,
                                 std::filesystem::copy_options::overwrite_existing);
    return open_sqlite(sqlite_options(copy));
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> sync_failures_;
  std::unique_ptr<SqliteStore> store_;
};

// Appends that touch every table and several pages.
std::vector<Append> busy_commit() {
  std::vector<Append> appends = {append_of(kAlpha, 1, 3), append_of(kBeta, 0, 3)};
  for (Append& append : appends) {
    append.events[1].payload = fmt::format(R"({{"text":"{}"}})", std::string(20'000, 'x'));
    append.index = {{"turn", "turn_" + append.session.text(), "thread", 1, "running", true, "{}"}};
    append.idempotency = {{"p", append.session.text(), "c", "h", "{}", Timestamp{1}}};
    append.snapshot = Snapshot{1, 1, std::string(9'000, 'v')};
  }
  return appends;
}

bool holds_only_first(Store& store) {
  return stored(store, kAlpha).size() == 1 && store.head(kBeta) == Result<Sequence>{0} &&
         store.last_position() == Result<Position>{1} && store.open_sessions()->empty() &&
         !store.idempotency("p", kAlpha.text()).value();
}

// Runs a busy commit with its n-th `call` failing, for every n. Returns how many calls it makes.
int at_every_call(Call call, int code, const std::function<void(FaultRig&)>& verify) {
  for (int nth = 1; nth < 1'000; ++nth) {
    FaultRig rig;
    plan.arm(call, code, nth, 1);
    const auto results = rig.store().commit(busy_commit());
    if (!plan.hit()) {
      for (const auto& result : results) CHECK(result);
      return nth - 1;
    }
    for (const auto& result : results) CHECK_FALSE(result);
    verify(rig);
  }
  return -1;
}

// Appends until the log cannot get more shared memory. Returns the last accepted sequence and the
// error of the next append.
std::pair<Sequence, Error> grow_until_refused(Store& store) {
  plan.arm(Call::grow_shared, SQLITE_IOERR_SHMSIZE, 1, 1);
  for (Sequence head = 1; head < 100; ++head) {
    Append append = append_of(kAlpha, head);
    append.events[0].payload = fmt::format(R"({{"text":"{}"}})", std::string(1 << 20, 'x'));
    if (auto result = commit_one(store, append); !result) return {head, result.error()};
  }
  FAIL("the log never grew past its first block of shared memory");
  return {};
}

}  // namespace

TEST_CASE("a disk that fills up at any write of a commit refuses it whole and recovers") {
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    CAPTURE(code);
    const int calls = at_every_call(Call::write, code, [&](FaultRig& rig) {
      CHECK(holds_only_first(rig.store()));
      CHECK(holds_only_first(*rig.as_after_crash()));
      CHECK(rig.sync_failures().empty());
      for (const auto& result : rig.store().commit(busy_commit())) CHECK(result);
      CHECK(stored(rig.store(), kAlpha).size() == 4);
      rig.reopen();
      CHECK(stored(rig.store(), kAlpha).size() == 4);
      CHECK(stored(rig.store(), kBeta).size() == 3);
    });
    CHECK(calls > 10);
  }
}

TEST_CASE("a full disk is storage_full for every append, reads go on, and room ends it") {
  FaultRig rig;
  plan.arm(Call::write, SQLITE_FULL, 1, 1'000'000);
  for (int i = 0; i < 3; ++i) {
    for (const auto& result : rig.store().commit(busy_commit())) {
      REQUIRE_FALSE(result);
      CHECK(result.error().code == Code::storage_full);
    }
    CHECK(holds_only_first(rig.store()));
    CHECK(rig.store().forget_idempotency(Timestamp{9}, 10));  // succeeds, because it writes nothing
  }
  plan.mend();
  for (const auto& result : rig.store().commit(busy_commit())) CHECK(result);
}

TEST_CASE("a write error that is not for lack of room is unavailable") {
  FaultRig rig;
  plan.arm(Call::write, SQLITE_IOERR_WRITE, 1, 1);
  const auto results = rig.store().commit(busy_commit());
  CHECK(results[0].error().code == Code::unavailable);
  CHECK(results[1].error().code == Code::unavailable);
}

TEST_CASE("a sync that fails in a commit is reported once and nothing is accepted after it") {
  const int calls = at_every_call(Call::sync, SQLITE_IOERR_FSYNC, [](FaultRig& rig) {
    CHECK(rig.sync_failures().size() == 1);
    plan.mend();
    for (const auto& result : rig.store().commit(busy_commit()))
      CHECK(result.error().code == Code::unavailable);
    CHECK_FALSE(rig.store().forget_idempotency(Timestamp{9}, 10));
    CHECK(rig.sync_failures().size() == 1);
    CHECK(stored(rig.store(), kAlpha).size() == 1);
  });
  CHECK(calls >= 1);
}

TEST_CASE(
    "a sync that fails in a checkpoint is reported too, for the log and for the database file") {
  int calls = 0;
  for (int nth = 1; nth < 10; ++nth) {
    FaultRig rig;
    SqliteOptions options = rig.options();
    options.limits.checkpoint_wal_bytes = 1;
    const auto store = open_sqlite(options);
    REQUIRE(commit_one(*store, append_of(kBeta, 0)));
    plan.arm(Call::sync, SQLITE_IOERR_FSYNC, nth, 1);
    const auto done = store->checkpoint();
    if (!plan.hit()) {
      CHECK(done);
      break;
    }
    ++calls;
    CHECK_FALSE(done);
    CHECK(rig.sync_failures().size() == 1);
    plan.mend();
    CHECK_FALSE(commit_one(*store, append_of(kBeta, 1)));
    CHECK_FALSE(store->checkpoint());
  }
  CHECK(calls == 2);
}

TEST_CASE("a log that cannot be extended costs nothing; a sync that fails in it is reported") {
  FaultRig rig;
  plan.arm(Call::write, SQLITE_FULL, 1, 1);
  rig.store().make_room();
  CHECK(plan.hit());
  for (const auto& result : rig.store().commit(busy_commit())) CHECK(result);
  CHECK(stored(*rig.as_after_crash(), kAlpha).size() == 4);
  plan.arm(Call::sync, SQLITE_IOERR_FSYNC, 1, 1);
  rig.store().make_room();
  CHECK(rig.sync_failures().size() == 1);
  CHECK_FALSE(commit_one(rig.store(), append_of(kAlpha, 4)));
}

TEST_CASE("a checkpoint that finds the disk full loses nothing and is retried") {
  FaultRig rig;
  SqliteOptions options = rig.options();
  options.limits.checkpoint_wal_bytes = 1;
  const auto store = open_sqlite(options);
  REQUIRE(commit_one(*store, append_of(kBeta, 0)));
  plan.arm(Call::write, SQLITE_FULL, 1, 1);
  CHECK(store->checkpoint().error().code == Code::storage_full);
  CHECK(commit_one(*store, append_of(kBeta, 1)));
  CHECK(store->checkpoint());
  CHECK(stored(*store, kBeta).size() == 2);
  CHECK(rig.sync_failures().empty());
}

// The shared memory grows after the commit's frames are written and synced. SQLite then drops the
// frames, but the file keeps them. A crash at that point must not restore the refused append.
TEST_CASE("a commit refused for lack of shared memory does not come back after a crash") {
  FaultRig rig;
  const auto [head, refusal] = grow_until_refused(rig.store());
  CHECK(refusal.code == Code::storage_full);
  CHECK(rig.sync_failures().empty());
  CHECK(rig.store().head(kAlpha) == Result<Sequence>{head});
  CHECK(rig.as_after_crash()->head(kAlpha) == Result<Sequence>{head});
  CHECK(commit_one(rig.store(), append_of(kAlpha, head)));
}

TEST_CASE("a commit whose outcome cannot be settled counts as a failed sync") {
  FaultRig rig;
  SqliteOptions options = rig.options();
  options.limits.busy_wait_ms = 10;
  const auto store = open_sqlite(options);
  // Another program's read prevents emptying the log.
  auto other = Connection::open(rig.path(), kFaultVfs, 10);
  REQUIRE(other);
  REQUIRE(other->run("BEGIN; SELECT count(*) FROM event"));
  const auto [head, refusal] = grow_until_refused(*store);
  CHECK(refusal.code == Code::unavailable);
  CHECK(rig.sync_failures().size() == 1);
  CHECK_FALSE(commit_one(*store, append_of(kBeta, 0)));
}

// A failed read anywhere in the file is reported as a temporary disk error, not as damage.
TEST_CASE("a read that the disk fails is unavailable, is not called damage, and passes") {
  FaultRig rig;
  for (const auto& result : rig.store().commit(busy_commit())) REQUIRE(result);
  REQUIRE(rig.store().pack(1'000));
  const std::pair<const char*, std::function<std::optional<Error>(Store&)>> reads[] = {
      {"events",
       [](Store& s) {
         auto page = s.events(kAlpha, 1, 10, 1 << 20);
         return page ? std::nullopt : std::optional(page.error());
       }},
      {"all_events",
       [](Store& s) {
         auto page = s.all_events(0, 10, 1 << 20);
         return page ? std::nullopt : std::optional(page.error());
       }},
      {"snapshot",
       [](Store& s) {
         auto found = s.snapshot(kAlpha);
         return found ? std::nullopt : std::optional(found.error());
       }},
      {"find",
       [](Store& s) {
         auto found = s.find("turn", "turn_sess_alpha");
         return found ? std::nullopt : std::optional(found.error());
       }},
      {"list",
       [](Store& s) {
         auto found = s.list({.kind = "turn"});
         return found ? std::nullopt : std::optional(found.error());
       }},
  };
  for (const int code : {SQLITE_IOERR_READ, SQLITE_IOERR_CORRUPTFS}) {
    for (const auto& [name, read] : reads) {
      CAPTURE(name);
      int failed = 0;
      for (int nth = 1; nth < 1'000; ++nth) {
        rig.reopen();
        plan.arm(Call::read, code, nth, 1);
        const auto error = read(rig.store());
        const bool hit = plan.hit();
        plan.mend();
        CHECK_FALSE(read(rig.store()));
        if (!hit) break;
        if (!error) continue;
        ++failed;
        CAPTURE(error->message);
        CHECK(error->code == Code::unavailable);
        CHECK_FALSE(error->message.contains("damage"));
        CHECK_FALSE(error->message.contains("backup"));
        CHECK_FALSE(error->message.contains("not an agentrt store"));
      }
      CHECK(failed > 0);
    }
  }
}

TEST_CASE("a store that cannot be read when it is opened is not called foreign or damaged") {
  FaultRig rig;
  rig.reopen();
  int failed = 0;
  for (int nth = 1; nth < 1'000; ++nth) {
    CAPTURE(nth);
    plan.arm(Call::read, SQLITE_IOERR_READ, nth, 1);
    const auto opened = SqliteStore::open(rig.options());
    const bool hit = plan.hit();
    plan.mend();
    if (!hit) break;
    if (opened) continue;
    ++failed;
    CAPTURE(opened.error().message);
    CHECK(opened.error().code == Code::unavailable);
    CHECK_FALSE(opened.error().message.contains("not an agentrt store"));
    CHECK_FALSE(opened.error().message.contains("backup"));
    CHECK(SqliteStore::open(rig.options()));
  }
  CHECK(failed > 0);
}

TEST_CASE("a store cannot be created on a disk that fails, and can be afterwards") {
  register_fault_vfs();
  for (const auto& [call, code] :
       {std::pair{Call::write, SQLITE_FULL}, std::pair{Call::write, SQLITE_IOERR_WRITE},
        std::pair{Call::sync, SQLITE_IOERR_FSYNC}}) {
    for (int nth = 1; nth < 1'000; ++nth) {
      TemporaryFolder folder;
      int told = 0;
      SqliteOptions options = sqlite_options(folder.file("store.db"));
      options.vfs = kFaultVfs;
      options.on_sync_failure = [&](const std::string&) { ++told; };
      plan.arm(call, code, nth, 1);
      const auto opened = SqliteStore::open(options);
      const bool hit = plan.hit();
      plan = {};
      if (!hit) break;
      CAPTURE(nth);
      CHECK_FALSE(opened);
      CHECK(told == (call == Call::sync ? 1 : 0));
      CHECK(commit_one(*open_sqlite(options), append_of(kAlpha, 0)));
    }
  }
}

}  // namespace agentrt::store

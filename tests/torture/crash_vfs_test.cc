// tests/torture/crash_vfs_test.cc: tests the crash VFS itself. A child process changes files
// through it until it crashes; then the test examines what is left.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "crash_vfs.h"

namespace agentrt::torture {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "crash_vfs_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs `work` in a child process under the plan and returns its exit code.
int in_child(const CrashPlan& plan, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDERR_FILENO);
    install_crash_vfs(plan);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A file opened through the VFS, without SQLite.
class VfsFile {
 public:
  explicit VfsFile(const std::string& path) : path_(path) {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    memory_.resize(static_cast<std::size_t>(vfs->szOsFile));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
    if (vfs->xOpen(vfs, path_.c_str(), get(), flags, &flags) != SQLITE_OK) _exit(2);
  }
  sqlite3_file* get() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }
  void write(char what, std::uint64_t at, std::size_t count) {
    const std::string bytes(count, what);
    get()->pMethods->xWrite(get(), bytes.data(), static_cast<int>(count),
                            static_cast<sqlite3_int64>(at));
  }
  void truncate(std::uint64_t size) {
    get()->pMethods->xTruncate(get(), static_cast<sqlite3_int64>(size));
  }
  void sync() { get()->pMethods->xSync(get(), SQLITE_SYNC_NORMAL); }

 private:
  std::string path_;
  std::vector<char> memory_;
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Writes four synced sectors of 'a', then makes changes that the second sync would make durable.
std::string after(const CrashPlan& plan, const std::function<void(VfsFile&)>& changes) {
  const Folder folder;
  const int code = in_child(plan, [&] {
    VfsFile file(folder.file("f"));
    file.write('a', 0, 4 * kSectorBytes);
    file.sync();
    changes(file);
    file.sync();
  });
  CHECK(code == kCrashExit);
  return content(folder.file("f"));
}

struct Rows {
  std::int64_t acknowledged = 0;  // inserts that returned before the crash
  std::int64_t found = 0;         // rows in the database when reopened
  bool crashed = false;
};

// Inserts rows in a child, each in its own transaction, then one that syncs everything before it.
Rows rows_after(const CrashPlan& plan, const std::string& synchronous) {
  const Folder folder;
  const std::string path = folder.file("d.db");
  const auto run = [](sqlite3* database, const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) _exit(3);
  };
  const int code = in_child(plan, [&] {
    std::ofstream acknowledged(folder.file("acknowledged"));
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    run(database, "PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
    run(database, "PRAGMA synchronous=" + synchronous);
    for (int i = 0; i < 5; ++i) {
      run(database, "INSERT INTO t VALUES(randomblob(3000))");
      acknowledged << '.' << std::flush;
    }
    run(database, "PRAGMA synchronous=FULL; PRAGMA wal_checkpoint; PRAGMA user_version=7");
  });
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* count = nullptr;
  Rows rows{static_cast<std::int64_t>(content(folder.file("acknowledged")).size()), 0,
            code == kCrashExit};
  if (sqlite3_prepare_v2(database, "SELECT count(*) FROM t", -1, &count, nullptr) == SQLITE_OK &&
      sqlite3_step(count) == SQLITE_ROW)
    rows.found = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  sqlite3_close(database);
  return rows;
}

// How many runs lost acknowledged rows, with a crash at every sync.
int losses(Damage damage, const std::string& synchronous) {
  int lost = 0;
  for (std::uint64_t at = 1; at < 100; ++at) {
    const Rows rows = rows_after({at, damage, at}, synchronous);
    if (rows.found < rows.acknowledged) ++lost;
    if (!rows.crashed) return lost;
  }
  FAIL("the run never ended without a crash");
  return lost;
}

}  // namespace

TEST_CASE("dropped changes leave the file as its last sync left it") {
  const std::string old(4 * kSectorBytes, 'a');
  CHECK(after({2, Damage::drop, 1}, [](VfsFile& file) {
          file.write('b', 100, 3000);
          file.write('c', 0, 10);
        }) == old);
  CHECK(after({2, Damage::drop, 1}, [](VfsFile& file) {
          file.truncate(10);
          file.write('b', 5, 700);
        }) == old);
}

TEST_CASE("a late crash keeps what its sync covered") {
  const std::string left = after({2, Damage::late, 1}, [](VfsFile& file) {
    file.truncate(600);
    file.write('b', 600, 10);
  });
  CHECK(left == std::string(600, 'a') + std::string(10, 'b'));
}

TEST_CASE("torn writes change whole sectors or not at all, and both happen") {
  std::set<char> seen;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string left =
        after({2, Damage::tear, seed}, [](VfsFile& file) { file.write('b', 0, 4 * kSectorBytes); });
    REQUIRE(left.size() == 4 * kSectorBytes);
    for (std::uint64_t at = 0; at < left.size(); at += kSectorBytes) {
      CHECK(left.find_first_not_of(left[at], at) >= std::min(left.size(), at + kSectorBytes));
      seen.insert(left[at]);
    }
  }
  CHECK(seen == std::set<char>{'a', 'b'});
}

TEST_CASE("reordered writes let a later one survive an earlier one, whole") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string left = after({2, Damage::reorder, seed}, [](VfsFile& file) {
      file.write('b', 0, 2 * kSectorBytes);
      file.write('c', kSectorBytes, 2 * kSectorBytes);
    });
    seen.insert({left[0], left[kSectorBytes], left[2 * kSectorBytes]});
  }
  CHECK(seen.contains("aaa"));
  CHECK(seen.contains("acc"));  // the first is lost, the second is kept
  CHECK(seen.contains("bbc"));  // both are kept, in reverse order
}

TEST_CASE("a file that was never synced vanishes, and one removed without a sync returns") {
  const Folder folder;
  CHECK(in_child({2, Damage::drop, 1}, [&] {
          VfsFile old(folder.file("old"));
          old.write('o', 0, 10);
          old.sync();
          sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
          vfs->xDelete(vfs, folder.file("old").c_str(), 0);
          VfsFile fresh(folder.file("new"));
          fresh.write('n', 0, 10);
          fresh.sync();
        }) == kCrashExit);
  CHECK(content(folder.file("old")) == std::string(10, 'o'));
  CHECK_FALSE(std::filesystem::exists(folder.file("new")));
}

TEST_CASE("a process without a crash to come ends as usual") {
  const Folder folder;
  CHECK(in_child({0, Damage::drop, 1}, [&] { VfsFile(folder.file("f")).sync(); }) == 0);
}

// The purpose of the VFS: data that SQLite synced survives every crash, and unsynced data does not.
// A VFS under which unsynced rows survived would find no bugs.
TEST_CASE("synced transactions survive every crash and unsynced ones do not") {
  for (const Damage damage : {Damage::drop, Damage::tear, Damage::reorder, Damage::late})
    CHECK(losses(damage, "FULL") == 0);
  CHECK(losses(Damage::drop, "OFF") > 0);
  CHECK(losses(Damage::tear, "OFF") > 0);
  CHECK(losses(Damage::reorder, "OFF") > 0);
}

}  // namespace agentrt::torture

// store/sqlite/witness_test.cc: tests that a restored copy starts a new generation, that files
// removed while the store is open are noticed, and that truncated or foreign files are refused.

#include "store/sqlite/witness.h"

#include <sys/stat.h>

#include <fstream>

#include "store/testing/store_fixture.h"

namespace agentrt::store {
namespace {

namespace fs = std::filesystem;

// A folder with a store that is opened and closed repeatedly; each open is one second later.
class Folder {
 public:
  std::string path() const { return folder_.file("data/store.db"); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  Folder() { fs::create_directory(folder_.file("data")); }

  std::unique_ptr<SqliteStore> open() {
    SqliteOptions options = sqlite_options(path());
    options.now = Timestamp{options.now.ms + 1'000 * ++opens_};
    return open_sqlite(options);
  }
  std::string generation() { return open()->generation().text(); }
  Result<std::unique_ptr<SqliteStore>> try_open() {
    return SqliteStore::open(sqlite_options(path()));
  }
  // Opens the store, adds events to the session, and closes it.
  void add(Sequence after, std::size_t count = 1) {
    REQUIRE(commit_one(*open(), append_of(kAlpha, after, count)));
  }

 private:
  TemporaryFolder folder_;
  int opens_ = 0;
};

void copy_over(const std::string& from, const std::string& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

void copy_folder(const std::string& from, const std::string& to) {
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

}  // namespace

TEST_CASE("a store that is opened again keeps its generation") {
  Folder folder;
  const std::string first = folder.generation();
  CHECK(folder.generation() == first);
  folder.add(0, 3);
  folder.add(3);
  CHECK(folder.generation() == first);
  fs::rename(folder.file("data"), folder.file("elsewhere"));  // the whole folder is moved
  fs::rename(folder.file("elsewhere"), folder.file("data"));
  CHECK(folder.generation() == first);
}

TEST_CASE("a store keeps its generation after a crash, and when the noted head is behind") {
  Folder folder;
  folder.add(0);
  const std::string head = folder.path() + ".head";
  copy_over(head, folder.file("head"));
  const std::string first = folder.generation();
  {
    const auto store = folder.open();
    REQUIRE(commit_one(*store, append_of(kAlpha, 1)));
    copy_folder(folder.file("data"), folder.file("crash"));
    // The same files without closing the store, as after a kill.
    CHECK(folder.open()->generation().text() == first);
  }
  std::ofstream(head, std::ios::in | std::ios::out)  // in place, as after a power cut
      << std::ifstream(folder.file("head")).rdbuf();
  CHECK(folder.generation() == first);
}

TEST_CASE("a database that was copied and put back starts a new generation") {
  Folder folder;
  folder.add(0, 3);
  const std::string first = folder.generation();
  copy_over(folder.path(), folder.file("copy.db"));
  folder.add(3);
  SUBCASE("over the same file") { copy_over(folder.file("copy.db"), folder.path()); }
  SUBCASE("as another file") {
    fs::remove(folder.path());
    copy_over(folder.file("copy.db"), folder.path());
  }
  SUBCASE("by renaming") { fs::rename(folder.file("copy.db"), folder.path()); }
  SUBCASE("and written by a program that knows no witness") {
    copy_over(folder.file("copy.db"), folder.path());
    auto connection = Connection::open(folder.path(), "", 1'000);
    REQUIRE(connection);
    REQUIRE(connection->run(
        "INSERT INTO event SELECT 4, session, 4, at, 'other', version, runtime, scope, "
        "zeroblob(32), NULL, payload FROM event WHERE position = 1"));
  }
  const std::string second = folder.generation();
  CHECK(second != first);
  CHECK(folder.generation() == second);
}

TEST_CASE("a copy taken while the store was open starts a new generation when it is put back") {
  Folder folder;
  folder.add(0);
  const std::string first = folder.generation();
  {
    const auto store = folder.open();
    REQUIRE(commit_one(*store, append_of(kAlpha, 1)));
    for (const char* end : {"", "-wal"})
      copy_over(folder.path() + end, folder.file("copy.db") + end);
    REQUIRE(commit_one(*store, append_of(kAlpha, 2)));
  }
  for (const char* end : {"", "-wal"}) copy_over(folder.file("copy.db") + end, folder.path() + end);
  CHECK(folder.generation() != first);
}

TEST_CASE("a copy that lacks nothing keeps the generation where it is put over the same file") {
  Folder folder;
  folder.add(0);
  const std::string first = folder.generation();
  copy_over(folder.path(), folder.file("copy.db"));
  copy_over(folder.file("copy.db"), folder.path());
  CHECK(folder.generation() == first);
}

TEST_CASE("a folder that was copied and put back starts a new generation") {
  Folder folder;
  folder.add(0, 3);
  const std::string first = folder.generation();
  copy_folder(folder.file("data"), folder.file("backup"));
  folder.add(3);
  SUBCASE("over the same files") { copy_folder(folder.file("backup"), folder.file("data")); }
  SUBCASE("as another folder") {
    fs::remove_all(folder.file("data"));
    copy_folder(folder.file("backup"), folder.file("data"));
  }
  SUBCASE("by renaming") {
    fs::remove_all(folder.file("data"));
    fs::rename(folder.file("backup"), folder.file("data"));
  }
  CHECK(folder.generation() != first);
}

TEST_CASE("a store whose witness is missing or damaged starts a new generation") {
  for (const char* end : {".head", ".anchor"}) {
    CAPTURE(end);
    Folder folder;
    folder.add(0);
    const std::string first = folder.generation();
    fs::remove(folder.path() + end);
    const std::string second = folder.generation();
    CHECK(second != first);
    std::ofstream(folder.path() + end) << "something else";
    CHECK(folder.generation() != second);
  }
}

TEST_CASE("files that go away while the store is open are noticed, and nothing is acknowledged") {
  for (const char* end : {"", "-wal"}) {
    for (const bool replaced : {false, true}) {
      CAPTURE(end);
      CAPTURE(replaced);
      Folder folder;
      const auto store = folder.open();
      REQUIRE(commit_one(*store, append_of(kAlpha, 0)));
      CHECK(store->check_files());
      fs::remove(folder.path() + end);
      if (replaced) std::ofstream(folder.path() + end) << "x";
      const auto gone = store->check_files();
      REQUIRE_FALSE(gone);
      CHECK(gone.error().code == Code::unavailable);
      CHECK(gone.error().message.contains(folder.path() + end));
      CHECK(commit_one(*store, append_of(kAlpha, 1)).error() == gone.error());
    }
  }
  Folder folder;
  const auto store = folder.open();
  REQUIRE(commit_one(*store, append_of(kAlpha, 0)));
  fs::rename(folder.file("data"), folder.file("moved"));
  CHECK_FALSE(commit_one(*store, append_of(kAlpha, 1)));
}

TEST_CASE("a store that was cut short is called that, and left as it is") {
  Folder folder;
  folder.add(0, 100);
  const std::uint64_t whole = fs::file_size(folder.path());
  for (const std::uint64_t size :
       {whole / 2, std::uint64_t{4'096}, std::uint64_t{60}, std::uint64_t{7}, std::uint64_t{0}}) {
    CAPTURE(size);
    fs::resize_file(folder.path(), size);
    const auto opened = folder.try_open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Code::unavailable);
    CHECK(opened.error().message.contains("is truncated"));
    CHECK(opened.error().message.contains("backup"));
    CHECK_FALSE(opened.error().message.contains("not an agentrt store"));
    CHECK(fs::file_size(folder.path()) == size);
  }
}

TEST_CASE("a store whose first page is damaged is called damaged, not foreign") {
  Folder folder;
  folder.add(0, 100);
  {
    std::fstream file(folder.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(400, '\xff');
  }
  const auto opened = folder.try_open();
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.contains("is damaged"));
  CHECK(opened.error().message.contains("restore it from a backup"));
}

}  // namespace agentrt::store

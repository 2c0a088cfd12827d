// store/testing/store_fixture.h: rigs and builders for the tests that every store must pass.
//
// A rig creates one kind of store and does what a test cannot do through the interface: reopen it
// on its stored data, damage a row, erase a payload. The tests are templates over the rigs.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "store/memory/memory_store.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"

namespace agentrt::store {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory unless TMPDIR is set: no test cuts the power, and there are many syncs.
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = getenv("TMPDIR") == nullptr && std::filesystem::exists(memory);
    const auto parent = in_memory ? memory : std::filesystem::temp_directory_path();
    std::string name = (parent / "agentrt_store_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string seeded_bytes(std::size_t count) { return std::string(count, 's'); }

inline SqliteOptions sqlite_options(std::string path) {
  SqliteOptions options;
  options.path = std::move(path);
  options.now = Timestamp{1'778'207'400'000};
  options.random = seeded_bytes;
  return options;
}

inline std::unique_ptr<SqliteStore> open_sqlite(const SqliteOptions& options) {
  auto opened = SqliteStore::open(options);
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}

class MemoryRig {
 public:
  Store& store() { return *store_; }
  void reopen() { store_ = std::make_unique<MemoryStore>(store_->disk()); }
  void damage(const SessionId& session, Sequence sequence) {
    store_->disk()->damage(session, sequence);
  }
  void erase_payload(const SessionId& session, Sequence sequence) {
    store_->disk()->erase_payload(session, sequence);
  }

 private:
  std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>();
};

class SqliteRig {
 public:
  SqliteRig() { reopen(); }

  Store& store() { return *store_; }
  SqliteStore& sqlite() { return *store_; }
  std::string path() const { return folder_.file("store.db"); }
  void reopen() {
    store_.reset();
    store_ = open_sqlite(sqlite_options(path()));
  }
  // Changes the file as another program would.
  void run(const std::string& sql) {
    auto connection = Connection::open(path(), "", 1'000);
    REQUIRE(connection);
    auto done = connection->run(sql.c_str());
    if (!done) FAIL(done.error().message);
  }
  void damage(const SessionId& session, Sequence sequence) {
    update(session, sequence, "payload = replace(payload, '{', '[')");
  }
  void erase_payload(const SessionId& session, Sequence sequence) {
    // The digest that the documentation says to keep.
    const auto page = store_->events(session, sequence - 1, 1, 1 << 20);
    REQUIRE(page);
    update(session, sequence,
           fmt::format("payload = NULL, payload_sha256 = x'{}'",
                       hex(bytes_of(sha256(page->at(0).event.payload)))));
  }
  void update(const SessionId& session, Sequence sequence, const std::string& set) {
    run(
        fmt::format("UPDATE event SET {} WHERE sequence = {} AND session = "
                    "(SELECT key FROM session WHERE id = '{}')",
                    set, sequence, session.text()));
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<SqliteStore> store_;
};

inline const SessionId kAlpha{"sess_alpha"};
inline const SessionId kBeta{"sess_beta"};

inline schema::StoredEvent event_of(const SessionId& session, Sequence sequence,
                                    const std::string& text = "hello") {
  schema::StoredEvent event;
  event.session = session;
  event.sequence = sequence;
  event.at = Timestamp{1'778'207'400'000 + static_cast<std::int64_t>(sequence)};
  event.type = "item.completed";
  event.runtime = RuntimeId{"rt_suite"};
  event.scope = R"("threadId":"thread_1","turnId":"turn_1")";
  event.payload = fmt::format(R"({{"text":"{}"}})", text);
  return event;
}

// `count` events after `expected`.
inline Append append_of(const SessionId& session, Sequence expected, std::size_t count = 1) {
  Append append;
  append.session = session;
  append.expected = expected;
  for (std::size_t i = 1; i <= count; ++i)
    append.events.push_back(event_of(session, expected + i, fmt::format("fact {}", expected + i)));
  return append;
}

inline Result<Position> commit_one(Store& store, const Append& append) {
  auto results = store.commit({&append, 1});
  REQUIRE(results.size() == 1);
  return std::move(results[0]);
}

inline std::vector<schema::StoredEvent> stored(Store& store, const SessionId& session) {
  auto page = store.events(session, 0, 10'000, 1 << 30);
  if (!page) FAIL(page.error().message);
  std::vector<schema::StoredEvent> events;
  for (Event& event : *page) events.push_back(std::move(event.event));
  return events;
}

}  // namespace agentrt::store

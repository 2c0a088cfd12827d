// store/sqlite/database.h: one SQLite connection and its statements, with failures sorted by what
// the store must do about them.
//
// A Connection never checkpoints by itself, neither after a commit nor when it closes.
// Threads: a connection and its statements are used by one thread at a time.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/result.h"

namespace agentrt::store {

// What a failed call means for the store, whatever SQLite's name for it.
enum class Fault {
  full,        // no room on the disk; nothing was written
  sync,        // a sync failed: what is on the disk is not known any more
  unreadable,  // the disk did not give the bytes; it may the next time
  damaged,     // the file's contents contradict themselves
  taken,       // a constraint: the row is there already
  too_large,   // a value past SQLite's size
  other,       // any other operating failure
};

// `code` is an extended result code, `system_error` the errno behind it (0: not known), and
// `last_error` what errno was when the call returned, having been 0 before it.
Fault sort_fault(int code, int system_error, int last_error = 0);

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  Statement(Statement&& other) noexcept { *this = std::move(other); }
  Statement& operator=(Statement&& other) noexcept;
  ~Statement() { sqlite3_finalize(handle_); }

  explicit operator bool() const { return handle_ != nullptr; }

  // Bound texts and blobs are not copied: they must live until reset().
  void bind(int place, std::string_view text);
  void bind(int place, std::int64_t number);
  void bind_blob(int place, std::string_view bytes);

  // SQLITE_ROW, SQLITE_DONE, or an extended error code (also that of a failed bind).
  int step();
  void reset();
  // Runs a statement that gives no rows: SQLITE_DONE or an error code; ready for the next use.
  int run();

  // Columns from 0; views are good until the next step() or reset().
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

 private:
  void bound(int code);

  sqlite3_stmt* handle_ = nullptr;
  int bind_error_ = SQLITE_OK;
};

// Resets the statement at the end of the scope: no read outlives the call that made it.
class Running {
 public:
  explicit Running(Statement& statement) : statement_(statement) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { statement_.reset(); }

 private:
  Statement& statement_;
};

class Connection {
 public:
  Connection() = default;
  Connection(Connection&& other) noexcept { *this = std::move(other); }
  Connection& operator=(Connection&& other) noexcept;
  ~Connection() { sqlite3_close_v2(handle_); }

  // `vfs`: the name of a registered sqlite3_vfs; empty for the system's own. A call that meets
  // another process's lock waits `busy_wait_ms`.
  static Result<Connection> open(const std::string& path, const std::string& vfs, int busy_wait_ms);

  bool in_transaction() const;
  // The file of the write-ahead log; null while there is none.
  sqlite3_file* log_file();
  Result<void> run(const char* sql);
  // The first column of the first row; empty or 0 where there is no row.
  Result<std::string> ask_blob(const char* sql);
  Result<std::int64_t> ask_number(const char* sql);
  // A statement that is kept for long.
  Result<Statement> prepare(std::string_view sql);

  // REQUIRES: right after the call on this thread that failed.
  Fault fault(int code) const { return sort_fault(code, sqlite3_system_errno(handle_), errno); }
  // The error that a caller gets: storage_full, internal, conflict, too_large or unavailable, with
  // what was being done and SQLite's own words.
  Error error(int code, std::string_view doing);
  // Whether error() was ever given a failed sync.
  bool sync_failed() const { return sync_failed_; }

  sqlite3* handle() const { return handle_; }

 private:
  template <class Value, class Read>
  Result<Value> ask(const char* sql, Read read);

  sqlite3* handle_ = nullptr;
  bool sync_failed_ = false;
};

}  // namespace agentrt::store

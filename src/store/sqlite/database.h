// store/sqlite/database.h: one SQLite connection and its statements, with errors classified by
// their consequence for the store.
//
// A Connection never checkpoints by itself, neither after a commit nor when it closes. Threads: a
// connection and its statements are used by one thread at a time.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/result.h"

namespace agentrt::store {

// The consequence of a failed SQLite call.
enum class Fault {
  full,        // the disk is full; nothing was written
  sync,        // a sync failed: the state of the disk is unknown
  unreadable,  // a read failed; a retry may succeed
  damaged,     // the file is corrupt
  taken,       // a constraint: the row already exists
  too_large,   // a value exceeds SQLite's size limit
  other,       // any other error
};

// `code`: SQLite's extended result code. `system_error`: the errno that SQLite kept; 0: unknown.
// `last_error`: errno after the call, which must have been set to 0 before it.
Fault sort_fault(int code, int system_error, int last_error = 0);

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  Statement(Statement&& other) noexcept { *this = std::move(other); }
  Statement& operator=(Statement&& other) noexcept;
  ~Statement() { sqlite3_finalize(handle_); }

  explicit operator bool() const { return handle_ != nullptr; }

  // Texts and blobs are not copied; they must stay valid until reset().
  void bind(int place, std::string_view text);
  void bind(int place, std::int64_t number);
  void bind_blob(int place, std::string_view bytes);
  void bind_null(int place);

  // Returns SQLITE_ROW, SQLITE_DONE, or an extended error code (also of a failed bind).
  int step();
  void reset();
  // Runs a statement without result rows and resets it. Returns SQLITE_DONE or an error code.
  int run();

  // Columns count from 0. Views are valid until the next step() or reset().
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

 private:
  void bound(int code);

  sqlite3_stmt* handle_ = nullptr;
  int bind_error_ = SQLITE_OK;
};

// Resets the statement at the end of the scope, so that no read transaction stays open.
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

  // `vfs`: the name of a registered sqlite3_vfs; empty: the default. If another process holds a
  // lock, calls wait up to `busy_wait_ms` for it.
  static Result<Connection> open(const std::string& path, const std::string& vfs, int busy_wait_ms);

  bool in_transaction() const;
  // The write-ahead log's file; null: there is none yet.
  sqlite3_file* log_file();
  Result<void> run(const char* sql);
  // The first column of the first row; empty or 0 if there is no row.
  Result<std::string> ask_blob(const char* sql);
  Result<std::int64_t> ask_number(const char* sql);
  // Prepares a statement for repeated use.
  Result<Statement> prepare(std::string_view sql);

  // REQUIRES: called directly after the failed call, on the same thread.
  Fault fault(int code) const { return sort_fault(code, sqlite3_system_errno(handle_), errno); }
  // The error for the caller: storage_full, internal, conflict, too_large or unavailable. The
  // message contains `doing` and SQLite's message.
  Error error(int code, std::string_view doing);
  // Whether error() has ever seen a failed sync.
  bool sync_failed() const { return sync_failed_; }

  sqlite3* handle() const { return handle_; }

 private:
  template <class Value, class Read>
  Result<Value> ask(const char* sql, Read read);

  sqlite3* handle_ = nullptr;
  bool sync_failed_ = false;
};

}  // namespace agentrt::store

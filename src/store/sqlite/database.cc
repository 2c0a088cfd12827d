#include "store/sqlite/database.h"

#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace agentrt::store {
namespace {

bool no_room(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

Code code_of_fault(Fault fault) {
  switch (fault) {
    case Fault::full:
      return Code::storage_full;
    case Fault::damaged:
      return Code::internal;
    case Fault::taken:
      return Code::conflict;
    case Fault::too_large:
      return Code::too_large;
    case Fault::sync:
    case Fault::unreadable:
    case Fault::other:
      break;
  }
  return Code::unavailable;
}

std::string_view meaning_of(Fault fault) {
  switch (fault) {
    case Fault::full:
      return "the disk is full; free some space and try again";
    case Fault::damaged:
      return "the store file is damaged; restore it from a backup";
    case Fault::taken:
      return "the row already exists";
    case Fault::too_large:
      return "a value is too large to store";
    case Fault::sync:
      return "the disk did not confirm a write";
    case Fault::unreadable:
      return "reading from the disk failed; try again, and check the disk if it fails again";
    case Fault::other:
      break;
  }
  return "the store is not available now";
}

}  // namespace

Fault sort_fault(int code, int system_error, int last_error) {
  switch (code) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
      return Fault::unreadable;
    default:
      break;
  }
  if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) return Fault::sync;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Fault::full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      // SQLite reports a read that fails with one of these errno values as corruption
      // (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT) and does not keep the errno.
      return last_error == EIO || last_error == ENXIO || last_error == ERANGE ? Fault::unreadable
                                                                              : Fault::damaged;
    case SQLITE_CONSTRAINT:
      return Fault::taken;
    case SQLITE_TOOBIG:
      return Fault::too_large;
    case SQLITE_IOERR:
      // The unix VFS returns SQLITE_FULL only for ENOSPC of a plain write. A quota, a file size
      // limit and the shared-memory file cause other codes.
      if (no_room(system_error) || code == SQLITE_IOERR_SHMSIZE) return Fault::full;
      return Fault::other;
    default:
      return Fault::other;
  }
}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(bind_error_, other.bind_error_);
  return *this;
}

void Statement::bound(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::bind(int place, std::string_view text) {
  // A null pointer would bind NULL, which is not the empty text.
  bound(sqlite3_bind_text64(handle_, place, text.data() == nullptr ? "" : text.data(), text.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int place, std::int64_t number) {
  bound(sqlite3_bind_int64(handle_, place, number));
}

void Statement::bind_null(int place) { bound(sqlite3_bind_null(handle_, place)); }

void Statement::bind_blob(int place, std::string_view bytes) {
  bound(sqlite3_bind_blob64(handle_, place, bytes.data() == nullptr ? "" : bytes.data(),
                            bytes.size(), SQLITE_STATIC));
}

int Statement::step() {
  if (bind_error_ != SQLITE_OK) [[unlikely]]
    return bind_error_;
  errno = 0;
  return sqlite3_step(handle_);
}

void Statement::reset() {
  sqlite3_reset(handle_);
  bind_error_ = SQLITE_OK;
}

int Statement::run() {
  const int code = step();
  reset();
  return code;
}

std::string_view Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(handle_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(handle_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(sync_failed_, other.sync_failed_);
  return *this;
}

Result<Connection> Connection::open(const std::string& path, const std::string& vfs,
                                    int busy_wait_ms) {
  // Once, before SQLite is first used: disable memory statistics. They are not used, and counting
  // needs a lock per allocation, for which connections on other threads wait.
  static const int kConfigured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)kConfigured;
  Connection connection;
  const int code = sqlite3_open_v2(
      path.c_str(), &connection.handle_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK)
    return std::unexpected(connection.error(code, fmt::format("opening {}", path)));
  sqlite3_busy_timeout(connection.handle_, busy_wait_ms);
  sqlite3_db_config(connection.handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(connection.handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_wal_autocheckpoint(connection.handle_, 0);
  return connection;
}

sqlite3_file* Connection::log_file() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return log != nullptr && log->pMethods != nullptr ? log : nullptr;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Result<void> Connection::run(const char* sql) {
  errno = 0;
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, "running a statement"));
  return {};
}

// Step to the end: a statement's changes are committed when it is done, not when it returns a row.
template <class Value, class Read>
Result<Value> Connection::ask(const char* sql, Read read) {
  TRY_ASSIGN(Statement statement, prepare(sql));
  Value value{};
  int code = statement.step();
  if (code == SQLITE_ROW) {
    value = read(statement);
    while (code == SQLITE_ROW) code = statement.step();
  }
  if (code != SQLITE_DONE) return std::unexpected(error(code, "reading"));
  return value;
}

Result<std::string> Connection::ask_blob(const char* sql) {
  return ask<std::string>(sql, [](const Statement& row) { return std::string(row.blob(0)); });
}

Result<std::int64_t> Connection::ask_number(const char* sql) {
  return ask<std::int64_t>(sql, [](const Statement& row) { return row.integer(0); });
}

Result<Statement> Connection::prepare(std::string_view sql) {
  check(sql.size() <= std::numeric_limits<int>::max(), "a statement is a short text");
  sqlite3_stmt* handle = nullptr;
  errno = 0;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, "preparing a statement"));
  return Statement(handle);
}

Error Connection::error(int code, std::string_view doing) {
  const Fault kind = handle_ == nullptr ? Fault::other : fault(code);
  if (kind == Fault::sync) sync_failed_ = true;
  return {code_of_fault(kind),
          fmt::format("{} (while {}: {}, code {})", meaning_of(kind), doing, sqlite3_errstr(code),
                      code),
          {}};
}

}  // namespace agentrt::store

#include "runtime/store_check.h"

#include <sqlite3.h>

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "runtime/data_folder.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/migrations.h"

namespace agentrt::runtime {
namespace {

constexpr int kBusyWaitMs = 1'000;

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)>;

Error unreadable(const std::string& path, sqlite3* database) {
  return Error{Code::unavailable,
               fmt::format("The store {} cannot be read ({}); check its permissions, or restore it "
                           "from a backup.",
                           path, database != nullptr ? sqlite3_errmsg(database) : "no memory"),
               {}};
}

// The one number that `sql` gives.
Result<std::int64_t> number_of(const std::string& path, sqlite3* database, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK)
    return std::unexpected(unreadable(path, database));
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw, sqlite3_finalize);
  const int step = sqlite3_step(raw);
  if (step == SQLITE_DONE) return 0;
  if (step != SQLITE_ROW) return std::unexpected(unreadable(path, database));
  return sqlite3_column_int64(raw, 0);
}

}  // namespace

Result<StoreReport> check_store(const std::string& data) {
  StoreReport report;
  report.path = store_path(data);
  std::error_code error;
  if (!std::filesystem::exists(report.path, error)) return report;
  report.exists = true;
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(report.path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const Database database(raw, sqlite3_close_v2);
  if (opened != SQLITE_OK) return std::unexpected(unreadable(report.path, raw));
  sqlite3_busy_timeout(raw, kBusyWaitMs);
  TRY_ASSIGN(const auto application, number_of(report.path, raw, "PRAGMA application_id"));
  TRY_ASSIGN(report.version, number_of(report.path, raw, "PRAGMA user_version"));
  if (application != store::kApplicationId)
    return fail(Code::unavailable,
                fmt::format("{} is not a store of agentrt; move it away or choose another folder "
                            "with --data.",
                            report.path));
  const std::int64_t newest = store::migrations().back().version;
  if (report.version > newest)
    return fail(
        Code::unavailable,
        fmt::format("The store {} has version {}, and this agentrt knows versions up to {}; "
                    "use a newer agentrt.",
                    report.path, report.version, newest));
  TRY(number_of(report.path, raw, "SELECT count(*) FROM sqlite_master"));
  return report;
}

Result<void> check_store_folder(const std::string& data) {
  return store::check_folder_of(store_path(data));
}

std::string sqlite_version() { return sqlite3_libversion(); }

}  // namespace agentrt::runtime

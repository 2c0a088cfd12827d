#include "runtime/store_check.h"

#include <filesystem>

#include "runtime/data_folder.h"
#include "store/sqlite/database.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/migrations.h"

namespace agentrt::runtime {
namespace {

constexpr int kBusyWaitMs = 1'000;

}  // namespace

Result<StoreReport> check_store(const std::string& data) {
  StoreReport report;
  report.path = store_path(data);
  std::error_code error;
  if (!std::filesystem::exists(report.path, error)) return report;
  report.exists = true;
  TRY_ASSIGN(auto connection, store::Connection::open(report.path, "", kBusyWaitMs));
  TRY(store::inspect(connection, report.path, store::migrations()));
  TRY_ASSIGN(report.version, connection.ask_number("PRAGMA user_version"));
  return report;
}

Result<void> check_store_folder(const std::string& data) {
  return store::check_folder_of(store_path(data));
}

Result<std::string> sqlite_version() {
  TRY_ASSIGN(auto connection, store::Connection::open(":memory:", "", 0));
  return connection.ask_blob("SELECT sqlite_version()");
}

}  // namespace agentrt::runtime

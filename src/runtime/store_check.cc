#include "runtime/store_check.h"

#include <filesystem>

#include "runtime/data_folder.h"
#include "runtime/grants.h"
#include "state/index.h"
#include "store/sqlite/database.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/reader.h"

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

Result<std::vector<config::TrustRecord>> stored_trust(const std::string& data,
                                                      const std::string& workspace) {
  TRY_ASSIGN(const StoreReport report, check_store(data));
  if (!report.exists) return std::vector<config::TrustRecord>{};
  TRY_ASSIGN(auto connection, store::Connection::open(report.path, "", kBusyWaitMs));
  store::IndexQuery query;
  query.kind = std::string(state::kTrustKind);
  query.limit = kGrantRowsMax;
  TRY_ASSIGN(const auto rows, store::Reader(connection).list(query));
  return trust_in(rows, workspace);
}

Result<void> check_store_folder(const std::string& data) {
  return store::check_folder_of(store_path(data));
}

Result<std::string> sqlite_version() {
  TRY_ASSIGN(auto connection, store::Connection::open(":memory:", "", 0));
  return connection.ask_blob("SELECT sqlite_version()");
}

}  // namespace agentrt::runtime

// runtime/store_check.h: inspects a store without owning it, for `agentrt doctor`.
//
// Read-only; another process may own the store at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/trust.h"

namespace agentrt::runtime {

struct StoreReport {
  std::string path;
  bool exists = false;
  std::int64_t version = 0;  // of its schema
};

// Fails with unavailable and a remedy if the store is unreadable, invalid, or of a newer version.
Result<StoreReport> check_store(const std::string& data);
// The files of the workspace (a path without symlinks) that a person trusts, with their digests;
// none where there is no store. Fails as check_store() does.
Result<std::vector<config::TrustRecord>> stored_trust(const std::string& data,
                                                      const std::string& workspace);
// Fails with unavailable if the folder's file system cannot hold a store.
Result<void> check_store_folder(const std::string& data);

Result<std::string> sqlite_version();

}  // namespace agentrt::runtime

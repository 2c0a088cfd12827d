// runtime/store_check.h: what can be said of a store without owning it, for `agentrt doctor`.
//
// Looks without changing anything; another process may own the store meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace agentrt::runtime {

struct StoreReport {
  std::string path;
  bool exists = false;
  std::int64_t version = 0;  // of its schema
};

// unavailable, with what to do: it cannot be read, is not a store, or is of a newer version.
Result<StoreReport> check_store(const std::string& data);
// Refuses (unavailable) a folder whose file system cannot keep a store.
Result<void> check_store_folder(const std::string& data);

Result<std::string> sqlite_version();

}  // namespace agentrt::runtime

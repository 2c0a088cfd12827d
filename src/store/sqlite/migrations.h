// store/sqlite/migrations.h: creates the store's tables and upgrades older files.
//
// PRAGMA application_id identifies the file as a store; PRAGMA user_version is its schema version.
// Each migration and its version number are written in one transaction, so a crash leaves a file of
// the old or the new version. docs/log_format.md describes the tables.
#pragma once

#include <span>

#include "base/result.h"
#include "store/identity.h"
#include "store/sqlite/database.h"

namespace agentrt::store {

inline constexpr std::int64_t kApplicationId = 0x61677274;  // "agrt"

struct Migration {
  std::int64_t version;  // the version after this migration; from 1, without gaps
  const char* sql;
};

// All migrations, oldest first. The first one creates the tables of an empty file.
std::span<const Migration> migrations();

enum class FileKind { empty, ours };

// Inspects the file without writing. Errors: unavailable, with a sentence that says what is wrong:
// the file cannot be read now, is not a store, is truncated or damaged, or has a version newer than
// the last of `known`.
Result<FileKind> inspect(Connection& connection, const std::string& path,
                         std::span<const Migration> known);

// Upgrades the file to the last version of `known`. Stores `identity` if the file is empty.
Result<void> migrate(Connection& connection, std::span<const Migration> known,
                     const Identity& identity);

Result<Identity> read_identity(Connection& connection);
// Stores the generation and the identity of the anchor file (store/sqlite/witness.h).
Result<void> put_generation(Connection& connection, const GenerationId& generation,
                            const std::string& anchor);

}  // namespace agentrt::store

// store/sqlite/migrations.h: the store's tables, and how an older file comes to have them.
//
// The file says whose it is (PRAGMA application_id) and its schema version (PRAGMA user_version).
// Each migration runs in one transaction together with its version, so a crash leaves a file of
// the version before or after, never between. docs/log_format.md describes the tables.
#pragma once

#include <span>

#include "base/result.h"
#include "store/identity.h"
#include "store/sqlite/database.h"

namespace agentrt::store {

inline constexpr std::int64_t kApplicationId = 0x61677274;  // "agrt"

struct Migration {
  std::int64_t version;  // what the file is afterwards; from 1, without gaps
  const char* sql;
};

// All of them, oldest first; the first one makes the tables of an empty file.
std::span<const Migration> migrations();

enum class FileKind { empty, ours };

// Looks without writing. Refuses (unavailable, with a sentence for each) a file that cannot be read
// now, one that is not a store, one that was cut short or is damaged, and one whose version is
// newer than the last of `known`.
Result<FileKind> inspect(Connection& connection, const std::string& path,
                         std::span<const Migration> known);

// Brings the file to the last version of `known`; `identity` is stored when it is empty.
Result<void> migrate(Connection& connection, std::span<const Migration> known,
                     const Identity& identity);

Result<Identity> read_identity(Connection& connection);
// Stores the generation and what the store remembers of its anchor (store/sqlite/witness.h).
Result<void> put_generation(Connection& connection, const GenerationId& generation,
                            const std::string& anchor);

}  // namespace agentrt::store

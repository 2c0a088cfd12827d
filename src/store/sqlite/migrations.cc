#include "store/sqlite/migrations.h"

#include <fmt/format.h>

#include "base/check.h"
#include "store/sqlite/file_system.h"

namespace agentrt::store {
namespace {

// Positions, session keys and generated ids grow with time, so in large tables inserts go to the
// right edge of each B-tree.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(
  name TEXT PRIMARY KEY NOT NULL,
  value NOT NULL
) WITHOUT ROWID;

CREATE TABLE session(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
);

CREATE TABLE runtime(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
);

CREATE TABLE event(
  position INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  version TEXT NOT NULL,
  runtime INTEGER NOT NULL,
  scope TEXT NOT NULL,
  hash BLOB NOT NULL,
  payload_sha256 BLOB,
  payload TEXT
);
CREATE UNIQUE INDEX event_by_sequence ON event(session, sequence);

CREATE TABLE object(
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  session INTEGER NOT NULL,
  parent TEXT NOT NULL,
  first INTEGER NOT NULL,
  status TEXT NOT NULL,
  open INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY(kind, id)
) WITHOUT ROWID;
CREATE INDEX object_by_session ON object(kind, session, first);
CREATE INDEX object_by_parent ON object(kind, session, parent, first) WHERE parent <> '';
CREATE INDEX object_open ON object(session) WHERE open = 1;

CREATE TABLE idempotency(
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  command TEXT NOT NULL,
  params_hash TEXT NOT NULL,
  reply TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(principal, key)
);
CREATE INDEX idempotency_by_time ON idempotency(at);

CREATE TABLE snapshot(
  session INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  fold_version INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  bytes BLOB NOT NULL
);
)sql";

// An event row whose payload is in a pack has neither payload nor payload_sha256.
constexpr const char* kPacks = R"sql(
CREATE TABLE pack(
  session INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY(session, first)
);
)sql";

// The lists of an object by term. `object.terms` repeats them, one per line, so that a later row
// can remove the ones that no longer hold.
constexpr const char* kTerms = R"sql(
ALTER TABLE object ADD COLUMN terms TEXT NOT NULL DEFAULT '';
ALTER TABLE object ADD COLUMN due INTEGER;
CREATE INDEX object_due ON object(due, kind, id) WHERE due IS NOT NULL;
CREATE TABLE term(
  kind TEXT NOT NULL,
  term TEXT NOT NULL,
  session INTEGER NOT NULL,
  first INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY(kind, term, session, first, id)
) WITHOUT ROWID;
UPDATE object
  SET terms = 'shown' || char(10) || 'status=' || status || char(10) || 'thread=' || parent
  WHERE kind = 'task' AND json_extract(record, '$.visibility') = 'foreground';
INSERT INTO term SELECT kind, 'shown', session, first, id FROM object WHERE terms <> '';
INSERT INTO term SELECT kind, 'status=' || status, session, first, id FROM object WHERE terms <> '';
INSERT INTO term SELECT kind, 'thread=' || parent, session, first, id FROM object WHERE terms <> '';
)sql";

// The facts that model requests are made of (schema/sent.h), by thread.
constexpr const char* kSent = R"sql(
CREATE TABLE sent(
  session INTEGER NOT NULL,
  thread TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY(session, thread, sequence)
) WITHOUT ROWID;
INSERT INTO sent
  SELECT session, json_extract('{' || scope || '}', '$.threadId') AS thread, sequence FROM event
  WHERE type IN ('turn.started', 'turn.completed', 'turn.failed', 'model.completed', 'tool.started',
                 'tool.result', 'tool.failed', 'process.completed', 'hook.completed',
                 'context.resolved', 'output.spilled', 'context.compaction.completed')
    AND scope <> '' AND thread IS NOT NULL;
)sql";

// The list of sessions by last change: `changed` is a sequence, `changed_at` its position in the
// order of all facts. Sessions of older stores changed with their last fact.
constexpr const char* kChanges = R"sql(
ALTER TABLE object ADD COLUMN changed INTEGER;
ALTER TABLE object ADD COLUMN changed_at INTEGER;
UPDATE object
  SET (changed, changed_at) = (SELECT e.sequence, e.position FROM event e
    WHERE e.session = object.session ORDER BY e.sequence DESC LIMIT 1)
  WHERE kind = 'session';
CREATE INDEX object_by_change ON object(kind, changed_at) WHERE changed_at IS NOT NULL;
)sql";

// What clients of channels have acknowledged, beside the log; and the list of open actions.
constexpr const char* kChannels = R"sql(
CREATE TABLE channel(
  id TEXT PRIMARY KEY NOT NULL,
  session INTEGER NOT NULL,
  token TEXT NOT NULL,
  generation TEXT NOT NULL,
  acknowledged INTEGER NOT NULL,
  resume_hash BLOB NOT NULL,
  resume_hash_used BLOB NOT NULL,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX channel_by_session ON channel(session);
UPDATE object SET terms = 'open' WHERE kind = 'action' AND open = 1 AND terms = '';
INSERT OR IGNORE INTO term
  SELECT kind, 'open', session, first, id FROM object WHERE kind = 'action' AND open = 1;
)sql";

constexpr Migration kMigrations[] = {{1, kTables}, {2, kPacks},   {3, kTerms},
                                     {4, kSent},   {5, kChanges}, {6, kChannels}};

Result<void> put_identity(Connection& connection, const Identity& identity) {
  TRY_ASSIGN(Statement statement,
             connection.prepare("INSERT INTO meta(name, value) "
                                "VALUES('runtime', ?1), ('generation', ?2), ('hash_key', ?3)"));
  statement.bind(1, identity.runtime.text());
  statement.bind(2, identity.generation.text());
  statement.bind_blob(3, identity.hash_key);
  const int code = statement.run();
  if (code != SQLITE_DONE) return std::unexpected(connection.error(code, "creating the store"));
  return connection.run(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
}

Result<void> apply(Connection& connection, const Migration& migration, const Identity& identity) {
  TRY(connection.run(migration.sql));
  if (migration.version == 1) TRY(put_identity(connection, identity));
  return connection.run(fmt::format("PRAGMA user_version = {}", migration.version).c_str());
}

std::unexpected<Error> not_ours(const std::string& path) {
  return fail(Code::unavailable,
              fmt::format("{} is not an agentrt store; choose another data folder with --data, or "
                          "move the file away",
                          path));
}

std::unexpected<Error> cannot_read(const std::string& path, const Error& why) {
  return fail(why.code, fmt::format("the store {} cannot be read now: {}", path, why.message));
}

// The error for a file that SQLite finds damaged.
std::unexpected<Error> damaged(const std::string& path, const Error& why) {
  TRY_ASSIGN(const FileHeader header, read_header(path));
  if (!header.sqlite || (header.application && *header.application != kApplicationId))
    return not_ours(path);
  if (header.bytes < header.bytes_expected)
    return fail(
        Code::unavailable,
        fmt::format("the store {} is truncated: it has {} of {} bytes; restore it from a backup",
                    path, header.bytes, header.bytes_expected));
  return fail(Code::unavailable, fmt::format("the store {} is damaged: {}", path, why.message));
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<FileKind> inspect(Connection& connection, const std::string& path,
                         std::span<const Migration> known) {
  check(!known.empty(), "there is a first migration");
  std::int64_t application = 0, version = 0, tables = 0;
  for (const auto& [number, sql] : {std::pair{&application, "PRAGMA application_id"},
                                    std::pair{&version, "PRAGMA user_version"},
                                    std::pair{&tables, "SELECT count(*) FROM sqlite_schema"}}) {
    const auto asked = connection.ask_number(sql);
    if (!asked && asked.error().code == Code::internal) return damaged(path, asked.error());
    if (!asked) return cannot_read(path, asked.error());
    *number = *asked;
  }
  if (application == 0 && version == 0 && tables == 0) return FileKind::empty;
  if (application != kApplicationId || version < 1) return not_ours(path);
  const std::int64_t newest = known.back().version;
  if (version > newest)
    return fail(
        Code::unavailable,
        fmt::format("the store {} has schema version {}, but this program supports versions up to "
                    "{}; run the newer agentrt that wrote it (nothing was changed)",
                    path, version, newest));
  return FileKind::ours;
}

Result<void> migrate(Connection& connection, std::span<const Migration> known,
                     const Identity& identity) {
  TRY_ASSIGN(std::int64_t version, connection.ask_number("PRAGMA user_version"));
  for (const Migration& migration : known) {
    if (migration.version <= version) continue;
    check(migration.version == version + 1, "migrations have no gaps");
    TRY(connection.run("BEGIN IMMEDIATE"));
    auto done = apply(connection, migration, identity);
    if (done) done = connection.run("COMMIT");
    if (!done) {
      if (sqlite3_get_autocommit(connection.handle()) == 0) (void)connection.run("ROLLBACK");
      return done;
    }
    version = migration.version;
  }
  return {};
}

Result<void> put_generation(Connection& connection, const GenerationId& generation,
                            const std::string& anchor) {
  TRY_ASSIGN(Statement statement,
             connection.prepare("INSERT INTO meta(name, value) "
                                "VALUES('generation', ?1), ('anchor', ?2) "
                                "ON CONFLICT(name) DO UPDATE SET value = excluded.value"));
  statement.bind(1, generation.text());
  statement.bind(2, anchor);
  const int code = statement.run();
  if (code != SQLITE_DONE)
    return std::unexpected(connection.error(code, "starting a new generation"));
  return {};
}

Result<Identity> read_identity(Connection& connection) {
  Identity identity;
  TRY_ASSIGN(std::string runtime,
             connection.ask_blob("SELECT value FROM meta WHERE name = 'runtime'"));
  TRY_ASSIGN(std::string generation,
             connection.ask_blob("SELECT value FROM meta WHERE name = 'generation'"));
  TRY_ASSIGN(identity.hash_key,
             connection.ask_blob("SELECT value FROM meta WHERE name = 'hash_key'"));
  if (runtime.empty() || generation.empty() || identity.hash_key.size() != kHashKeyBytes)
    return fail(Code::internal, "the store has lost its identity; restore it from a backup");
  identity.runtime = RuntimeId{std::move(runtime)};
  identity.generation = GenerationId{std::move(generation)};
  return identity;
}

}  // namespace agentrt::store

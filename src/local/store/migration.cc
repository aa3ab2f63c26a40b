#include "local/store/migration.h"

#include <fmt/format.h>

#include <array>

#include "base/machine/disk.h"

namespace local::store {
namespace {

// Entry n migrates from user_version n to n + 1. Entries are added, never changed.
constexpr std::array kMigrations = {
    R"sql(
      CREATE TABLE objects(
        id        INTEGER PRIMARY KEY,
        resource  TEXT NOT NULL,     -- plural.group
        namespace TEXT NOT NULL,
        name      TEXT NOT NULL,
        uid       TEXT NOT NULL,
        version   INTEGER NOT NULL,  -- metadata.resourceVersion
        owner     TEXT NOT NULL,     -- uid of the controller, else of the first owner
        job       TEXT NOT NULL,
        created   INTEGER NOT NULL,  -- microseconds since the epoch
        json      TEXT NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX objects_by_name ON objects(resource, namespace, name);
      CREATE INDEX objects_by_uid ON objects(uid);
      CREATE INDEX objects_by_owner ON objects(owner) WHERE owner <> '';
      CREATE INDEX objects_by_job ON objects(job, resource) WHERE job <> '';
      CREATE TABLE revision(id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL) STRICT;
      INSERT INTO revision(id, version) VALUES (1, 1);
    )sql",
    // Arena finds a job's objects by this label: `get` must not read every pod.
    R"sql(
      ALTER TABLE objects ADD COLUMN release TEXT NOT NULL DEFAULT '';
      UPDATE objects SET release = coalesce(json_extract(json, '$.metadata.labels.release'), '');
      CREATE INDEX objects_by_release ON objects(release, resource) WHERE release <> '';
    )sql",
    // The outcomes of writes, for a client that lost the answer together with the daemon.
    R"sql(
      CREATE TABLE writes(
        id      INTEGER PRIMARY KEY,
        write   TEXT NOT NULL UNIQUE,  -- the client's id of it
        action  INTEGER NOT NULL,
        version INTEGER NOT NULL,
        json    TEXT NOT NULL          -- of the outcome; '' where it was too long
      ) STRICT;
    )sql",
    // Deleted objects that had a folder on the machine (see Store::FateOf).
    R"sql(
      CREATE TABLE deleted(uid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    )sql",
    // Finished runs (kept.h).
    R"sql(
      CREATE TABLE kept(
        uid       TEXT PRIMARY KEY,
        run       TEXT NOT NULL,
        resource  TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name      TEXT NOT NULL,
        created   INTEGER NOT NULL,
        deleted   INTEGER NOT NULL,
        json      TEXT NOT NULL
      ) STRICT;
      CREATE INDEX kept_by_run ON kept(run);
      CREATE INDEX kept_jobs ON kept(created, uid, namespace, name) WHERE uid = run;
    )sql",
};

base::Result<int64_t> ReadPragma(Database& database, std::string_view name) {
  TRY_ASSIGN(Statement statement, database.Prepare(fmt::format("PRAGMA {}", name)));
  Rows rows = statement.Query();
  TRY_ASSIGN(const bool has_row, rows.Next());
  return has_row ? rows.Int(0) : 0;
}

// Rewrites, once, a file that was created before files gave space back. A large file is left alone
// because nobody would wait that long, and one without room for a rewrite is tried again at another
// start.
base::Status MakeItGiveSpaceBack(Database& database) {
  constexpr int64_t kMaxBytes = 512 << 20;
  TRY_ASSIGN(const int64_t mode, ReadPragma(database, "auto_vacuum"));
  if (mode != 0) return {};
  TRY_ASSIGN(const int64_t pages, ReadPragma(database, "page_count"));
  TRY_ASSIGN(const int64_t page_size, ReadPragma(database, "page_size"));
  const int64_t bytes = pages * page_size;
  const uint64_t needed = 3 * static_cast<uint64_t>(bytes);
  if (bytes > kMaxBytes || base::DiskSpaceOf(database.path()).free < needed) return {};
  return database.Execute("VACUUM");
}

}  // namespace

base::Status Migrate(Database& database) {
  TRY(MakeItGiveSpaceBack(database));
  TRY_ASSIGN(Transaction transaction, Transaction::Begin(database));
  TRY_ASSIGN(const int64_t version, ReadPragma(database, "user_version"));
  constexpr auto kNewest = static_cast<int64_t>(kMigrations.size());
  if (version > kNewest) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("the state has version {}, but this muster knows versions up to {}: use the "
                    "muster that wrote it",
                    version, kNewest));
  }
  for (int64_t i = version; i < kNewest; ++i) {
    TRY(database.Execute(kMigrations[static_cast<size_t>(i)]));
    TRY(database.Execute(fmt::format("PRAGMA user_version={}", i + 1).c_str()));
  }
  return transaction.Commit();
}

}  // namespace local::store

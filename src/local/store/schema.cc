#include "local/store/schema.h"

#include <fmt/format.h>

#include <array>

namespace local::store {
namespace {

// Entry n leads from user_version n to n + 1. Never changed, only added to.
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
    // Arena finds what belongs to a job by this label: `get` must not read every pod there is.
    R"sql(
      ALTER TABLE objects ADD COLUMN release TEXT NOT NULL DEFAULT '';
      UPDATE objects SET release = coalesce(json_extract(json, '$.metadata.labels.release'), '');
      CREATE INDEX objects_by_release ON objects(release, resource) WHERE release <> '';
    )sql",
};

}  // namespace

base::Status Migrate(Database& database) {
  TRY_ASSIGN(Transaction transaction, Transaction::Begin(database, Transaction::Kind::kWrite));
  int64_t version = 0;
  {
    TRY_ASSIGN(Statement statement, database.Prepare("PRAGMA user_version"));
    Rows rows = statement.Query();
    TRY_ASSIGN(const bool has_row, rows.Next());
    if (has_row) version = rows.Int(0);
  }
  constexpr auto kNewest = static_cast<int64_t>(kMigrations.size());
  if (version > kNewest) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("the state is of version {}, this muster knows up to {}: use the "
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

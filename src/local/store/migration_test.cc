// Files as every earlier muster wrote them: opened, they are as if the newest had made them.
#include "local/store/migration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <future>

#include "base/file.h"
#include "local/store/sqlite.h"
#include "local/store/store.h"

namespace local::store {
namespace {

constexpr const char* kJobsOfOld = "pytorchjobs.kubeflow.org";

// The tables as they stood in the file after each version, not as kMigrations says today. There was
// never a file of version 3.
constexpr const char* kVersion1 = R"sql(
  CREATE TABLE objects(id INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL,
    name TEXT NOT NULL, uid TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL,
    job TEXT NOT NULL, created INTEGER NOT NULL, json TEXT NOT NULL) STRICT;
  CREATE UNIQUE INDEX objects_by_name ON objects(resource, namespace, name);
  CREATE INDEX objects_by_uid ON objects(uid);
  CREATE INDEX objects_by_owner ON objects(owner) WHERE owner <> '';
  CREATE INDEX objects_by_job ON objects(job, resource) WHERE job <> '';
  CREATE TABLE revision(id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL) STRICT;
  INSERT INTO revision(id, version) VALUES (1, 7);
  INSERT INTO objects VALUES(1, 'pytorchjobs.kubeflow.org', 'default', 'old', 'u1', 5, '', '',
    1785405600000000, '{"metadata":{"name":"old","namespace":"default","uid":"u1",'
    || '"labels":{"release":"old"},"resourceVersion":"5"},"spec":{}}');
  INSERT INTO objects VALUES(2, 'pods', 'default', 'old-master-0', 'p1', 7, 'u1', 'old',
    1785405600000000, '{"metadata":{"name":"old-master-0","namespace":"default","uid":"p1",'
    || '"labels":{"training.kubeflow.org/job-name":"old"},"resourceVersion":"7"}}');
  PRAGMA user_version=1)sql";
constexpr const char* kVersion2 = R"sql(
  ALTER TABLE objects ADD COLUMN release TEXT NOT NULL DEFAULT '';
  UPDATE objects SET release='old' WHERE name='old';
  CREATE INDEX objects_by_release ON objects(release, resource) WHERE release <> '';
  PRAGMA user_version=2)sql";
constexpr const char* kVersion4 = R"sql(
  CREATE TABLE writes(id INTEGER PRIMARY KEY, write TEXT NOT NULL UNIQUE, action INTEGER NOT NULL,
    version INTEGER NOT NULL, json TEXT NOT NULL) STRICT;
  CREATE TABLE deleted(uid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  INSERT INTO deleted VALUES('gone');
  PRAGMA user_version=4)sql";
constexpr const char* kVersion5 = R"sql(
  CREATE TABLE kept(uid TEXT PRIMARY KEY, run TEXT NOT NULL, resource TEXT NOT NULL,
    namespace TEXT NOT NULL, name TEXT NOT NULL, created INTEGER NOT NULL, deleted INTEGER NOT NULL,
    json TEXT NOT NULL) STRICT;
  CREATE INDEX kept_by_run ON kept(run);
  CREATE INDEX kept_jobs ON kept(created, uid, namespace, name) WHERE uid = run;
  INSERT INTO kept VALUES('k1', 'k1', 'pytorchjobs.kubeflow.org', 'default', 'run', 1, 2,
    '{"metadata":{"name":"run","namespace":"default","uid":"k1"}}');
  PRAGMA user_version=5)sql";

// Tables and indexes with their columns.
std::string Layout(const std::string& path) {
  auto database = Database::Open(path);
  auto statement = database->Prepare(
      "SELECT m.type, m.name, group_concat(coalesce(t.name || ' ' || t.type || t.\"notnull\", "
      "i.name)) FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) t ON m.type = 'table' "
      "LEFT JOIN pragma_index_info(m.name) i ON m.type = 'index' GROUP BY m.name ORDER BY m.name");
  EXPECT_TRUE(statement) << statement.error().message;
  Rows rows = statement->Query();
  std::string layout;
  for (auto more = rows.Next(); more && *more; more = rows.Next()) {
    layout += fmt::format("{} {}: {}\n", rows.Text(0), rows.Text(1), rows.Text(2));
  }
  return layout;
}

class MigrationTest : public testing::TestWithParam<int> {
 protected:
  MigrationTest() {
    char path[] = "/tmp/muster-migration-XXXXXX";
    folder_ = ::mkdtemp(path);
  }
  ~MigrationTest() override { (void)base::RemoveTree(folder_); }

  std::string folder_;
};

TEST_P(MigrationTest, AFileOfAnEarlierVersionIsReadAndKeptOn) {
  {
    auto database = Database::Open(folder_ + "/db");
    ASSERT_TRUE(database);
    for (const auto& [version, sql] : {std::pair{1, kVersion1}, std::pair{2, kVersion2},
                                       std::pair{4, kVersion4}, std::pair{5, kVersion5}}) {
      if (version > GetParam()) break;
      ASSERT_TRUE(database->Execute(sql)) << version;
    }
  }
  {
    auto store = Store::Open(folder_ + "/db");
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->Get({kJobsOfOld, "default", "old"}));
    std::vector<std::string> found;
    ASSERT_TRUE((*store)->List({.resource = "pods", .job = "old"}, [&](const Row& row) {
      found.emplace_back(row.name);
      return true;
    }));
    EXPECT_EQ(found, std::vector<std::string>{"old-master-0"});
    found.clear();
    ASSERT_TRUE((*store)->List({.resource = kJobsOfOld, .release = "old"}, [&](const Row& row) {
      found.emplace_back(row.name);
      return true;
    }));
    EXPECT_EQ(found, std::vector<std::string>{"old"});
    // What is deleted from now on leaves a record beside those that there are.
    std::promise<int64_t> version;
    (*store)->Submit(
        {{kJobsOfOld, "default", "old"},
         [](View&, std::optional<Record>) -> base::Result<Next> {
           return Next{Next::Action::kDelete, nullptr, {}};
         }},
        [&](base::Result<Outcome> outcome) { version.set_value(outcome ? outcome->version : 0); });
    EXPECT_EQ(version.get_future().get(), 8);
    const auto kept = (*store)->ListKept({});
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->size(), GetParam() == 5 ? 2U : 1U);
    const auto deleted = (*store)->ListKept({.uid = "u1"});
    EXPECT_TRUE(deleted && deleted->size() == 1);
    EXPECT_TRUE(Store::Open(folder_ + "/new"));
  }
  EXPECT_EQ(Layout(folder_ + "/db"), Layout(folder_ + "/new"));
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, MigrationTest, testing::Values(1, 2, 4, 5));

}  // namespace
}  // namespace local::store

#include "local/store/list_sql.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "local/store/migration.h"
#include "local/store/sqlite.h"

namespace local::store {
namespace {

class ListSqlTest : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/muster-sql-XXXXXX";
    root_ = ::mkdtemp(path);
    database_.emplace(*Database::Open(root_ + "/db"));
    ASSERT_TRUE(Migrate(*database_));
  }
  void TearDown() override {
    database_.reset();
    (void)base::RemoveTree(root_);
  }

  // SQLite's query plan: the index decides what a long list costs.
  std::string Plan(const std::string& sql) {
    auto statement = database_->Prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_TRUE(statement);
    Rows rows = statement->Query();
    EXPECT_TRUE(*rows.Next());
    return std::string(rows.Text(3));
  }

  // Whether its rows are collected and sorted before the first is read.
  bool Sorts(const std::string& sql) {
    auto statement = database_->Prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_TRUE(statement);
    Rows rows = statement->Query();
    while (*rows.Next()) {
      if (rows.Text(3).find("TEMP B-TREE") != std::string_view::npos) return true;
    }
    return false;
  }

  std::string root_;
  std::optional<Database> database_;
};

TEST_F(ListSqlTest, ReadsAJobsObjectsThroughTheirIndex) {
  EXPECT_EQ(Plan(ListSql({.resource = "pods", .namespace_name = "default", .job = "a"})),
            "SEARCH objects USING INDEX objects_by_job (job=? AND resource=?)");
  EXPECT_EQ(Plan(ListSql({.resource = "pods", .release = "a"})),
            "SEARCH objects USING INDEX objects_by_release (release=? AND resource=?)");
  EXPECT_EQ(Plan(ListSql({.resource = "pods", .owner = "uid"})),
            "SEARCH objects USING INDEX objects_by_owner (owner=?)");
}

TEST_F(ListSqlTest, ReadsEverythingInTheOrderOfTheNames) {
  EXPECT_EQ(Plan(ListSql({.resource = "pods"})),
            "SEARCH objects USING INDEX objects_by_name (resource=?)");
  EXPECT_EQ(Plan(ListSql({.resource = "pods", .namespace_name = "default"})),
            "SEARCH objects USING INDEX objects_by_name (resource=? AND namespace=?)");
}

TEST_F(ListSqlTest, NoPageOfALongListIsSorted) {
  const std::pair<std::string, std::string> after = {"default", "a"};
  for (const std::string name_space : {"", "default"}) {
    EXPECT_FALSE(Sorts(ListSql({.resource = "pods", .namespace_name = name_space})));
    EXPECT_FALSE(
        Sorts(ListSql({.resource = "pods", .namespace_name = name_space, .after = after})));
  }
}

}  // namespace
}  // namespace local::store

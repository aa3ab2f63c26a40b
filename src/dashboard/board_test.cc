#include "dashboard/board.h"

#include <gtest/gtest.h>

#include "api/object.h"
#include "api/status_posts.h"
#include "arena/testing/verb_test_base.h"

namespace dashboard {
namespace {

using Type = cluster::WatchEvent::Type;

class BoardTest : public arena::VerbTest {
 protected:
  BoardTest() : context_(MakeContext()), board_(context_) {}

  text::Json Row(const std::string& key) { return *text::ParseJson(board_.rows().at(key)); }

  arena::Context context_;
  Board board_;
};

TEST_F(BoardTest, AJobAndItsPodsAreARow) {
  board_.ReplaceJobs({MakeJob("base", "Running", std::chrono::seconds(60))});
  board_.ReplacePods({MakePod("base", "master", 0, "Running")});
  const Board::Changes changes = board_.Take(clock_.Now());
  ASSERT_EQ(changes.set.size(), 1u);
  EXPECT_TRUE(changes.gone.empty());
  const text::Json row = Row("default/base");
  EXPECT_EQ(text::GetString(row, {"name"}), "base");
  EXPECT_EQ(text::GetString(row, {"status"}), "RUNNING");
  EXPECT_EQ(text::GetInt(row, {"ranks"}), 2);
  EXPECT_EQ(text::GetInt(row, {"ranksUp"}), 1);
  EXPECT_EQ(text::GetInt(row, {"created"}), 1785405540000);
}

TEST_F(BoardTest, ProgressOnKubernetesIsInTheAnnotationsOfJobs) {
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  board_.ReplaceJobs({job, MakeJob("other", "Running", std::chrono::seconds(60))});
  EXPECT_EQ(text::ToJson(board_.AnnotatedProgress()), R"({"items":[]})");
  api::SetAnnotation(job, api::kProgressAnnotation, R"([{"source": "status posts", "step": 7}])");
  board_.Apply(Type::kModified, *text::ParsePart(text::ToJson(job), Board::JobParts()));
  const text::Json known = board_.AnnotatedProgress();
  ASSERT_EQ(known.at("items").as_array().size(), 1u);
  EXPECT_EQ(text::GetInt(known.at("items").at(0).at("sources").at(0), {"step"}), 7);
  api::SetAnnotation(job, api::kProgressAnnotation, "{");
  board_.Apply(Type::kModified, job);
  EXPECT_EQ(text::ToJson(board_.AnnotatedProgress()), R"({"items":[]})");
}

TEST_F(BoardTest, TimeAloneChangesNoRow) {
  board_.ReplaceJobs({MakeJob("base", "Running", std::chrono::seconds(60))});
  EXPECT_FALSE(board_.Take(clock_.Now()).empty());
  clock_.Advance(std::chrono::hours(5));
  board_.ReplaceJobs(
      {MakeJob("base", "Running", std::chrono::hours(5) + std::chrono::seconds(60))});
  EXPECT_TRUE(board_.Take(clock_.Now()).empty());
}

TEST_F(BoardTest, OnlyWhatChangedIsToldAgain) {
  board_.ReplaceJobs({MakeJob("a", "Running", std::chrono::seconds(9)),
                      MakeJob("b", "Running", std::chrono::seconds(9))});
  EXPECT_EQ(board_.Take(clock_.Now()).set.size(), 2u);
  board_.Apply(Type::kModified, MakeJob("b", "Succeeded", std::chrono::seconds(9)));
  board_.Apply(Type::kDeleted, MakeJob("a", "Running", std::chrono::seconds(9)));
  const Board::Changes changes = board_.Take(clock_.Now());
  EXPECT_EQ(changes.gone, std::vector<std::string>{"default/a"});
  ASSERT_EQ(changes.set.size(), 1u);
  EXPECT_EQ(text::GetString(Row("default/b"), {"status"}), "SUCCEEDED");
}

TEST_F(BoardTest, WhatANewListLeavesOutIsGone) {
  board_.ReplaceJobs({MakeJob("a", "Running", std::chrono::seconds(9))});
  (void)board_.Take(clock_.Now());
  board_.ReplaceJobs({});
  EXPECT_EQ(board_.Take(clock_.Now()).gone, std::vector<std::string>{"default/a"});
  EXPECT_TRUE(board_.rows().empty());
}

TEST_F(BoardTest, PodsOfAnotherJobOfThatNameAreNotCounted) {
  board_.ReplaceJobs({MakeJob("base", "Running", std::chrono::seconds(60))});
  text::Json foreign = MakePod("base", "master", 0, "Running");
  api::SetLabel(foreign, "training.kubeflow.org/job-name", "other");
  api::SetLabel(foreign, "release", "other");
  board_.ReplacePods({foreign});
  (void)board_.Take(clock_.Now());
  EXPECT_EQ(text::GetInt(Row("default/base"), {"ranksUp"}), 0);
}

TEST_F(BoardTest, EveryPlannedInstanceIsThereWithItsRanks) {
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  text::Set(job, {"spec", "nprocPerNode"}, "4");
  board_.ReplaceJobs({job});
  board_.ReplacePods({MakePod("base", "master", 0, "Running")});
  (void)board_.Take(clock_.Now());
  const text::Json instances = board_.InstancesOf("default/base", clock_.Now());
  ASSERT_EQ(instances.as_array().size(), 2u);
  EXPECT_EQ(text::GetString(instances.as_array()[0], {"status"}), "Running");
  EXPECT_EQ(text::GetString(instances.as_array()[1], {"name"}), "base-worker-0");
  EXPECT_EQ(text::GetString(instances.as_array()[1], {"status"}), "");
  EXPECT_EQ(text::GetInt(instances.as_array()[1], {"firstRank"}), 4);
  EXPECT_TRUE(board_.InstancesOf("default/none", clock_.Now()).is_null());
}

}  // namespace
}  // namespace dashboard

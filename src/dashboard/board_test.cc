#include "dashboard/board.h"

#include <gtest/gtest.h>

#include "api/names.h"
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

TEST_F(BoardTest, WhoHoldsTheOthersUpIsShownWithoutTheSecondsThatThePageCounts) {
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  api::SetAnnotation(job, api::kStallAnnotation, "stalled 2026-07-30T10:01:00Z rank 1 is late");
  // As the watch reads it.
  board_.ReplaceJobs({*text::ParsePart(text::ToJson(job), Board::JobParts())});
  EXPECT_EQ(board_.Take(clock_.Now()).set.size(), 1u);
  const text::Json row = Row("default/base");
  EXPECT_EQ(text::GetString(row, {"stall", "kind"}), "stalled");
  EXPECT_EQ(text::GetInt(row, {"stall", "since"}), 1785405660000);
  EXPECT_EQ(text::GetString(row, {"stall", "text"}), "rank 1 is late");
  clock_.Advance(std::chrono::minutes(1));
  board_.Apply(Type::kModified, job);
  EXPECT_TRUE(board_.Take(clock_.Now()).empty());
}

TEST_F(BoardTest, ProgressOnKubernetesIsInTheAnnotationsOfJobs) {
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  const std::string uid(api::Uid(job));
  board_.ReplaceJobs({job, MakeJob("other", "Running", std::chrono::seconds(60))});
  EXPECT_TRUE(board_.Take(clock_.Now()).annotated.empty());
  api::SetAnnotation(job, api::kProgressAnnotation, R"([{"source": "status posts", "step": 7}])");
  board_.Apply(Type::kModified, *text::ParsePart(text::ToJson(job), Board::JobParts()));
  const auto annotated = board_.Take(clock_.Now()).annotated;
  ASSERT_EQ(annotated.size(), 1u);
  EXPECT_EQ(annotated[0].uid, uid);
  EXPECT_EQ(text::GetInt(annotated[0].sources.at(0), {"step"}), 7);
  // As it was reported.
  board_.Apply(Type::kModified, job);
  EXPECT_TRUE(board_.Take(clock_.Now()).annotated.empty());
  api::SetAnnotation(job, api::kProgressAnnotation, "{");
  board_.Apply(Type::kModified, job);
  const auto broken = board_.Take(clock_.Now()).annotated;
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_TRUE(broken[0].sources.empty());
}

TEST_F(BoardTest, OfAJobThatIsGoneNoProgressIsLeft) {
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  api::SetAnnotation(job, api::kProgressAnnotation, R"([{"step": 7}])");
  board_.ReplaceJobs({job});
  EXPECT_EQ(board_.Take(clock_.Now()).annotated.size(), 1u);
  board_.ReplaceJobs({});
  const auto gone = board_.Take(clock_.Now()).annotated;
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].uid, api::Uid(job));
  EXPECT_TRUE(gone[0].sources.empty());
}

TEST_F(BoardTest, TimeAloneChangesNoRow) {
  board_.ReplaceJobs({MakeJob("base", "Running", std::chrono::seconds(60))});
  EXPECT_FALSE(board_.Take(clock_.Now()).empty());
  clock_.Advance(std::chrono::hours(5));
  board_.ReplaceJobs(
      {MakeJob("base", "Running", std::chrono::hours(5) + std::chrono::seconds(60))});
  EXPECT_TRUE(board_.Take(clock_.Now()).empty());
}

TEST_F(BoardTest, OnlyWhatChangedIsSentAgain) {
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
  EXPECT_FALSE(board_.JobOf("default/none", clock_.Now()));
  EXPECT_EQ(board_.JobOf("default/base", clock_.Now())->pods.size(), 1u);
}

}  // namespace
}  // namespace dashboard

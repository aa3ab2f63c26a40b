#include "local/daemon/progress/rank_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "local/daemon/progress/rank_meter.h"

namespace local::daemon {
namespace {

constexpr int64_t kStart = 1'764'000'000;

class RankFilesTest : public testing::Test {
 protected:
  RankFilesTest() { std::filesystem::create_directories(state_); }
  ~RankFilesTest() override { std::filesystem::remove_all(state_); }

  static std::vector<runs::RankSample> Look(int64_t at) {
    runs::RankSample sample;
    sample.at = at;
    sample.cpu = 98;
    return {sample};
  }
  static size_t ColumnsOf(const text::Json& grid) {
    const text::Array* ranks = text::FindArray(grid, {"ranks"});
    return ranks->empty() ? 0 : text::FindArray(ranks->front(), {"cpu"})->size();
  }

  const std::string state_ = testing::TempDir() + "rank_files_" + std::to_string(::getpid());
};

TEST_F(RankFilesTest, WhatWasNotedIsThereAfterTheNextStart) {
  {
    RankFiles files(state_);
    files.Note("job-1", Look(kStart));
    files.Note("job-1", Look(kStart + 1));
    EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 2u);
  }
  RankFiles files(state_);
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 2u);
  files.Note("job-1", Look(kStart + 2));
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 3u);
  EXPECT_EQ(ColumnsOf(files.Of("job-2", 240)), 0u);
}

TEST_F(RankFilesTest, ALookIsDueAsOftenAsItsRanksPermit) {
  RankFiles files(state_);
  EXPECT_TRUE(files.IsDue("job-1", 64, kStart));
  files.Note("job-1", Look(kStart));
  EXPECT_FALSE(files.IsDue("job-1", 64, kStart + 1));
  EXPECT_TRUE(files.IsDue("job-1", 64, kStart + runs::SecondsBetweenLooks(64)));
  EXPECT_TRUE(files.IsDue("job-1", 64, kStart - 100));  // a clock that went back
  EXPECT_FALSE(files.IsDue("job-1", 0, kStart));
  EXPECT_FALSE(files.IsDue("../x", 1, kStart));
}

TEST_F(RankFilesTest, ADayOfAJobStaysSmall) {
  RankFiles files(state_);
  for (int64_t at = 0; at < 86400; ++at) files.Note("job-1", Look(kStart + at));
  files.KeepOpen({});
  EXPECT_LT(std::filesystem::file_size(state_ + "/ranks/job-1"), 1'500'000u);
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 240u);
}

TEST_F(RankFilesTest, UnknownRunsAreForgotten) {
  RankFiles files(state_);
  files.Note("job-1", Look(kStart));
  files.Note("job-2", Look(kStart));
  files.KeepOpen({});
  files.ForgetUnless([](const std::string& uid) { return uid == "job-2"; });
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 0u);
  EXPECT_EQ(ColumnsOf(files.Of("job-2", 240)), 1u);
}

TEST_F(RankFilesTest, AMeterReportsWhatAProcessUsedBetweenTwoLooks) {
  RankFiles files(state_);
  LastLines lines;
  lines.Note("pod", "", kStart - 4);
  RankMeter meter(files, lines);
  const base::Time begin{std::chrono::seconds(kStart)};
  MeteredRank rank{3, ::getpid(), "pod", 1000, runs::StallRole::kNone};
  meter.See("job-1", {rank}, begin);
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 0u);
  rank.ticks += static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  rank.role = runs::StallRole::kLate;
  meter.See("job-1", {rank}, begin + std::chrono::seconds(2));
  const text::Json grid = files.Of("job-1", 240);
  const text::Json& of_rank = text::FindArray(grid, {"ranks"})->front();
  EXPECT_EQ(text::GetInt(of_rank, {"rank"}), 3);
  EXPECT_EQ(text::FindArray(of_rank, {"cpu"})->front(), text::Json(0.5));
  EXPECT_EQ(text::FindArray(of_rank, {"quietSeconds"})->front(), text::Json(6));
  EXPECT_EQ(text::FindArray(of_rank, {"stall"})->front(), text::Json("late"));
  EXPECT_GT(text::FindArray(of_rank, {"memoryBytes"})->front().as_int64(), 0);
  EXPECT_TRUE(text::FindArray(of_rank, {"gpu"})->front().is_null());
  // Another process has its own count.
  rank.pid = ::getppid();
  rank.ticks = 5;
  meter.See("job-1", {rank}, begin + std::chrono::seconds(4));
  EXPECT_EQ(ColumnsOf(files.Of("job-1", 240)), 1u);
}

TEST_F(RankFilesTest, AMeterReportsHowBusyARanksOwnGpusAre) {
  RankFiles files(state_);
  LastLines lines;
  RankMeter meter(files, lines);
  const base::Time begin{std::chrono::seconds(kStart)};
  std::vector<MeteredRank> ranks = {{0, ::getpid(), "pod", 1, runs::StallRole::kNone, {1, 3}},
                                    {1, ::getpid(), "pod", 1, runs::StallRole::kLate, {1, 3}},
                                    // The other rank of its pod has ended.
                                    {2, ::getpid(), "other", 1, runs::StallRole::kNone, {0, 2}, 2}};
  meter.See("job-1", ranks, begin);
  meter.See("job-1", ranks, begin + std::chrono::seconds(1), {10, 20, std::nullopt, 60});
  files.KeepOpen({});
  const text::Json grid = files.Of("job-1", 240);
  const text::Array& of_ranks = *text::FindArray(grid, {"ranks"});
  ASSERT_EQ(of_ranks.size(), 3u);
  EXPECT_EQ(text::FindArray(of_ranks[0], {"gpu"})->front(), text::Json(0.2));
  EXPECT_EQ(text::FindArray(of_ranks[1], {"gpu"})->front(), text::Json(0.6));
  EXPECT_EQ(text::FindArray(of_ranks[1], {"stall"})->front(), text::Json("late"));
  EXPECT_EQ(text::FindArray(of_ranks[2], {"gpu"})->front(), text::Json(0.1));
}

}  // namespace
}  // namespace local::daemon

#include "local/scheduler/past_runs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "local/scheduler/testing/trace.h"

namespace local::scheduler {
namespace {

using std::chrono::minutes;

constexpr base::Time kMorning{std::chrono::seconds(1'790'000'000)};

PastRun Ran(const std::string& command, int created, int started, int ended, int64_t gpus = 1) {
  PastRun run;
  run.command = command;
  run.started = kMorning + minutes(started);
  run.ended = kMorning + minutes(ended);
  run.gang.key = command + "/" + std::to_string(created);
  run.gang.created = kMorning + minutes(created);
  Pod pod;
  pod.uid = run.gang.key;
  pod.requests.gpus = gpus;
  run.gang.pods.push_back(pod);
  return run;
}

TEST(PastRuns, TheMostAlikeCount) {
  const std::vector<PastRun> past = {Ran("python a.py --lr 1", 0, 0, 5),
                                     Ran("python a.py", 5, 5, 6), Ran("python b.py", 6, 6, 16)};
  EXPECT_EQ(ExpectedOf("python a.py --lr 1", past).likeness, Likeness::kCommand);
  EXPECT_EQ(ExpectedOf("python a.py --lr 1", past).durations,
            std::vector<base::Duration>{minutes(5)});
  const Expected program = ExpectedOf("python a.py --lr 2", past);
  EXPECT_EQ(program.likeness, Likeness::kProgram);
  EXPECT_EQ(program.durations, (std::vector<base::Duration>{minutes(1), minutes(5)}));
  const Expected any = ExpectedOf("./c", past);
  EXPECT_EQ(any.likeness, Likeness::kAny);
  EXPECT_EQ(any.durations.size(), 3u);
  EXPECT_EQ(ExpectedOf("./c", {}).likeness, Likeness::kNone);
}

TEST(PastRuns, ForecastsAreMeasuredByWhatWasKnownThen) {
  Node node;
  node.gpus.resize(1);
  // The second waits for the first, of which it is known that such runs take ten minutes; it took
  // twelve.
  const std::vector<PastRun> past = {Ran("a", 0, 0, 10), Ran("a", 20, 20, 32),
                                     Ran("b", 21, 32, 40)};
  const Accuracy accuracy = MeasureForecasts(node, past, GpuPolicy::kStrict, 100);
  EXPECT_EQ(accuracy.runs, 1);
  EXPECT_EQ(accuracy.median, minutes(2));
  EXPECT_EQ(accuracy.p90, minutes(2));
  EXPECT_EQ(accuracy.by_late, 0);
}

TEST(PastRuns, WhatDidNotWaitIsNotCounted) {
  Node node;
  node.gpus.resize(1);
  EXPECT_EQ(MeasureForecasts(node, {Ran("a", 0, 0, 10)}, GpuPolicy::kStrict, 100).runs, 0);
  EXPECT_EQ(MeasureForecasts(node, {}, GpuPolicy::kStrict, 100).runs, 0);
  EXPECT_EQ(
      MeasureForecasts(node, {Ran("without-gpus", 0, 5, 10, 0)}, GpuPolicy::kStrict, 100).runs, 0);
  PastRun resumed = Ran("a", 0, 5, 10);
  resumed.gang.active_since = kMorning + minutes(5);
  EXPECT_EQ(MeasureForecasts(node, {resumed}, GpuPolicy::kStrict, 100).runs, 0);
}

// The middle one of how far off the foretold starts of a trace are, and those that are reckoned
// without the scheduler.
TEST(PastRuns, ForecastsOfATraceAreNearerThanFirstComeFirstServed) {
  TraceShape shape;
  shape.jobs = 60;
  const Node node = MachineOf(shape);
  const std::vector<PastRun> past = RunTrace(node, GenerateTrace(shape));
  ASSERT_EQ(past.size(), 60u);
  const Accuracy ours = MeasureForecasts(node, past, GpuPolicy::kStrict, 1'000);
  std::vector<base::Duration> theirs;
  for (const PastRun& run : past) {
    if (run.started - run.gang.created < std::chrono::seconds(1)) continue;
    const auto limit = [](const PastRun& each) {
      return each.gang.active_deadline.value_or(std::chrono::hours(24));
    };
    theirs.push_back(std::chrono::abs(FirstComeFirstServed(node, past, run, limit) - run.started));
  }
  ASSERT_GT(ours.runs, 10);
  std::sort(theirs.begin(), theirs.end());
  EXPECT_LT(ours.median * 2, theirs[theirs.size() / 2]);
}

}  // namespace
}  // namespace local::scheduler

#include "runs/ledger/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace runs {
namespace {

Claim Of(Millis begin, Millis end, Bucket bucket, Layer layer = Layer::kPhases) {
  return {begin, end, bucket, layer, true, "a test"};
}

// Segments follow each other from begin to end, and the sums are theirs.
void CheckItAddsUp(const Ledger& ledger) {
  Millis at = ledger.begin;
  Millis of_segments = 0;
  for (const Segment& segment : ledger.segments) {
    RC_ASSERT(segment.begin == at);
    RC_ASSERT(segment.end > segment.begin);
    RC_ASSERT(segment.gpu_millis >= 0);
    at = segment.end;
    of_segments += segment.length();
  }
  RC_ASSERT(at == ledger.end);
  RC_ASSERT(of_segments == ledger.wall());
  Millis of_buckets = 0;
  for (const Sum& sum : ledger.sums) {
    RC_ASSERT(sum.millis >= 0);
    RC_ASSERT(sum.estimated >= 0);
    RC_ASSERT(sum.estimated <= sum.millis);
    of_buckets += sum.millis;
  }
  RC_ASSERT(of_buckets == ledger.wall());
}

TEST(Ledger, WhatNobodyClaimsIsUnknown) {
  const Ledger ledger = MakeLedger(1000, 5000, {Of(2000, 3000, Bucket::kSteps)}, {}, {});
  EXPECT_EQ(ledger[Bucket::kSteps].millis, 1000);
  EXPECT_EQ(ledger[Bucket::kUnknown].millis, 3000);
  EXPECT_EQ(ledger.segments.size(), 3u);
}

TEST(Ledger, AHigherLayerHidesALowerOne) {
  const Ledger ledger = MakeLedger(0, 100,
                                   {Of(0, 100, Bucket::kSteps, Layer::kSteps),
                                    Of(20, 40, Bucket::kCheckpointSave, Layer::kWaits),
                                    Of(30, 60, Bucket::kLostProgress, Layer::kLost)},
                                   {}, {});
  EXPECT_EQ(ledger[Bucket::kSteps].millis, 60);
  EXPECT_EQ(ledger[Bucket::kCheckpointSave].millis, 10);
  EXPECT_EQ(ledger[Bucket::kLostProgress].millis, 30);
}

TEST(Ledger, OfOneLayerTheLatestPhaseHolds) {
  const Ledger ledger = MakeLedger(
      0, 100,
      {Of(0, 100, Bucket::kQueued), Of(40, 100, Bucket::kAdmitted), Of(40, 100, Bucket::kImage)},
      {}, {});
  EXPECT_EQ(ledger[Bucket::kQueued].millis, 40);
  EXPECT_EQ(ledger[Bucket::kAdmitted].millis, 0);
  EXPECT_EQ(ledger[Bucket::kImage].millis, 60);
}

TEST(Ledger, ClaimsOutsideOfTheRunAndReversedOnesSayNothing) {
  const Ledger ledger =
      MakeLedger(100, 200, {Of(0, 150, Bucket::kQueued), Of(180, 170, Bucket::kSteps)}, {}, {});
  EXPECT_EQ(ledger[Bucket::kQueued].millis, 50);
  EXPECT_EQ(ledger[Bucket::kSteps].millis, 0);
}

TEST(Ledger, AnEndBeforeTheBeginningIsNoTime) {
  const Ledger ledger = MakeLedger(100, 50, {Of(0, 300, Bucket::kSteps)}, {}, {});
  EXPECT_EQ(ledger.wall(), 0);
  EXPECT_EQ(ledger.goodput(), 0);
  EXPECT_EQ(ledger.effective(), 0);
}

TEST(Ledger, GpusAreCountedInTheBucketsInWhichTheyAreHeld) {
  const Ledger ledger =
      MakeLedger(0, 100, {Of(0, 40, Bucket::kQueued), Of(40, 100, Bucket::kSteps, Layer::kSteps)},
                 {{30, 100, 2}, {50, 90, 1}, {0, 100, -7}}, {});
  EXPECT_EQ(ledger[Bucket::kQueued].gpu_millis, 20);
  EXPECT_EQ(ledger[Bucket::kSteps].gpu_millis, 160);
  EXPECT_EQ(ledger.gpu_millis(), 180);
}

TEST(Ledger, AttemptsDivideSegments) {
  const Ledger ledger =
      MakeLedger(0, 100, {Of(0, 100, Bucket::kSteps, Layer::kSteps)}, {}, {30, 60});
  ASSERT_EQ(ledger.segments.size(), 3u);
  EXPECT_EQ(ledger.segments[1].begin, 30);
  EXPECT_EQ(ledger.segments[1].attempt, 2);
  EXPECT_EQ(ledger.segments[2].attempt, 3);
  EXPECT_EQ(ledger[Bucket::kSteps].millis, 100);
}

TEST(Ledger, GoodputLeavesOutWhatTheJobDidNotHold) {
  const Ledger ledger = MakeLedger(
      0, 100, {Of(0, 50, Bucket::kQueued), Of(50, 80, Bucket::kSteps, Layer::kSteps)}, {}, {});
  EXPECT_DOUBLE_EQ(ledger.effective(), 0.3);
  EXPECT_DOUBLE_EQ(ledger.goodput(), 0.6);
}

RC_GTEST_PROP(Ledger, AddsUpWhateverIsClaimed, ()) {
  const auto time = rc::gen::inRange<Millis>(-1000, 3000);
  const Millis begin = *time;
  const Millis end = *time;
  std::vector<Claim> claims;
  const int count = *rc::gen::inRange(0, 30);
  for (int i = 0; i < count; ++i) {
    claims.push_back({*time, *time, static_cast<Bucket>(*rc::gen::inRange<int>(0, kBuckets)),
                      static_cast<Layer>(*rc::gen::inRange(0, 6)), *rc::gen::arbitrary<bool>(),
                      *rc::gen::element<std::string>("a", "b")});
  }
  std::vector<Millis> attempts = *rc::gen::container<std::vector<Millis>>(time);
  std::sort(attempts.begin(), attempts.end());
  const Ledger ledger =
      MakeLedger(begin, end, claims,
                 {{*time, *time, 3}, {*time, *time, *rc::gen::arbitrary<int64_t>()}}, attempts);
  CheckItAddsUp(ledger);
}

}  // namespace
}  // namespace runs

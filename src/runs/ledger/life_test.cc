#include "runs/ledger/life.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace runs {
namespace {

constexpr Millis kSecond = 1000;

// A pod that was made at `at`, and ran from two seconds later until `ended`.
ReplicaLife Replica(const std::string& name, Millis at, MaybeMillis ended) {
  ReplicaLife life;
  life.name = name;
  life.gpus = 1;
  life.created = at;
  life.scheduled = at + kSecond;
  life.accepted = at + kSecond;
  life.started = at + 2 * kSecond;
  life.ended = ended;
  return life;
}

void AddSteps(Life& life, Millis first, Millis each, int64_t from, int64_t to, int64_t stride = 1) {
  for (int64_t step = from; step <= to; step += stride) {
    life.steps.push_back({first + (step - from) / stride * each, step, 0});
  }
}

Millis Of(const Ledger& ledger, Bucket bucket) { return ledger[bucket].millis; }

Life Finished(Millis end) {
  Life life;
  life.ended = end;
  life.has_finished = life.has_succeeded = true;
  life.step_source = "steps";
  return life;
}

TEST(LedgerOf, AJobThatRanOnceGoesFromItsQueueToItsEnding) {
  Life life = Finished(30 * kSecond);
  life.lives = {Replica("a", 1000, 29 * kSecond)};
  life.lives[0].has_succeeded = true;
  // Steps of one second, of which the first is done at 10 s.
  AddSteps(life, 10 * kSecond, kSecond, 1, 16);
  life.lines = {5 * kSecond};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kQueued), 2 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kImage), kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kInterpreters), 2 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kFirstStep), 4 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 16 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kEnding), 5 * kSecond);
  EXPECT_EQ(ledger.wall(), 30 * kSecond);
}

TEST(LedgerOf, RanksMeetBeforeTheFirstStepAndWaitForDataWithinSteps) {
  Life life = Finished(40 * kSecond);
  life.lives = {Replica("a", 1000, 39 * kSecond)};
  life.lives[0].has_succeeded = true;  // runs from 3 s
  AddSteps(life, 16 * kSecond, kSecond, 1, 20);
  life.lines = {5 * kSecond};
  life.spans = {{7 * kSecond, 11 * kSecond, Bucket::kRendezvous, false, "looks"},
                {20 * kSecond, 23 * kSecond, Bucket::kDataWait, false, "looks"},
                {37 * kSecond, 45 * kSecond, Bucket::kDataWait, false, "looks"}};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kInterpreters), 2 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kRendezvous), 4 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kFirstStep), 6 * kSecond);  // 5 to 7 s, 11 to 15 s
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 17 * kSecond);
  // Not beyond the end of its pods.
  EXPECT_EQ(Of(ledger, Bucket::kDataWait), 5 * kSecond);
  EXPECT_EQ(ledger[Bucket::kDataWait].estimated, 5 * kSecond);
  EXPECT_EQ(ledger[Bucket::kRendezvous].sources, std::vector<std::string>{"looks"});
}

TEST(LedgerOf, ASilentProgramsInterpreterHasStartedWhenItMeetsTheOthers) {
  Life life = Finished(40 * kSecond);
  life.lives = {Replica("a", 1000, 40 * kSecond)};
  life.lives[0].has_succeeded = true;
  life.spans = {{7 * kSecond, 11 * kSecond, Bucket::kRendezvous, true, "the store"}};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kInterpreters), 4 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kRendezvous), 4 * kSecond);
  EXPECT_EQ(ledger[Bucket::kRendezvous].estimated, 0);
  EXPECT_EQ(Of(ledger, Bucket::kUnknown), 29 * kSecond);
}

// The first step is printed at 12 s, and a step takes 4 s: it cannot have begun at 8 s.
TEST(LedgerOf, ARendezvousThatWasMeasuredHidesStepsWhoseBeginIsEstimated) {
  Life life = Finished(40 * kSecond);
  life.lives = {Replica("a", 1000, 40 * kSecond)};
  life.lives[0].has_succeeded = true;
  AddSteps(life, 12 * kSecond, 4 * kSecond, 1, 8);
  life.spans = {{7 * kSecond, 11 * kSecond, Bucket::kRendezvous, true, "ranks"},
                {9 * kSecond, 11 * kSecond, Bucket::kDataWait, false, "looks"},
                {10 * kSecond, 11 * kSecond, Bucket::kStalled, true, "watch"}};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kRendezvous), 4 * kSecond);
  EXPECT_EQ(ledger[Bucket::kRendezvous].estimated, 0);
  EXPECT_EQ(ledger[Bucket::kInterpreters].estimated, 0);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 29 * kSecond);
  // If only looks have found the wait, its end is uncertain, too.
  life.spans = {{7 * kSecond, 11 * kSecond, Bucket::kRendezvous, false, "looks"}};
  EXPECT_EQ(Of(LedgerOf(life), Bucket::kRendezvous), 1 * kSecond);
}

TEST(RefineEnd, WhatWasReportedWithinTheSecondOfTheEndIsOfTheRun) {
  Life life = Finished(30 * kSecond);
  life.lives = {Replica("a", 1000, 30 * kSecond)};
  AddSteps(life, 10'700, kSecond, 1, 21);  // until 30.7 s
  RefineEnd(life);
  EXPECT_EQ(life.ended, 30'700);
  EXPECT_EQ(Of(LedgerOf(life), Bucket::kSteps), 21 * kSecond);
  life.steps.push_back({32'000, 22, 0});
  life.spans = {{30'700, 30'900, Bucket::kCheckpointSave, false, "log"}};
  RefineEnd(life);
  EXPECT_EQ(life.ended, 30'900);
}

TEST(RefineEnd, AStallThatNobodyHasEndedYetDoesNotMakeTheRunLonger) {
  Life life = Finished(30 * kSecond);
  life.lives = {Replica("a", 1000, 30 * kSecond)};
  life.spans = {{20 * kSecond, 30'080, Bucket::kStalled, true, "watch"}};
  RefineEnd(life);
  EXPECT_EQ(life.ended, 30 * kSecond);
}

TEST(RefineEnd, ARunShorterThanASecondLastsUntilItsProgramsEnd) {
  Life life = Finished(0);
  life.submitted = 400;  // to the millisecond
  life.lives = {Replica("a", 0, 0)};
  life.lives[0].started = 450;
  life.lives[0].ended = 730;
  life.lines = {600, 1200};
  RefineEnd(life);
  EXPECT_EQ(life.ended, 730);
  EXPECT_EQ(life.lives[0].ended, 730);
  EXPECT_EQ(LedgerOf(life).wall(), 330);
}

TEST(RefineEnd, AReplicaThatEndedInThatSecondHadNotEndedBefore) {
  Life life = Finished(0);
  life.lives = {Replica("a", 0, 0)};
  life.spans = {{20, 40, Bucket::kSteps, true, "trials"}, {60, 90, Bucket::kSteps, true, "trials"}};
  RefineEnd(life);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(life.ended, 90);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 50);
  EXPECT_EQ(Of(ledger, Bucket::kEnding), 0);
}

TEST(LedgerOf, AJobThatNeverGotItsPlaceWasQueued) {
  Life life;
  life.now = 50 * kSecond;
  life.lives.emplace_back().created = 0;
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kQueued), 50 * kSecond);
  EXPECT_EQ(ledger.segments.front().is_measured, true);
}

TEST(LedgerOf, StepsThatARestartMadeAgainAreLost) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, 20 * kSecond), Replica("b", 0, 20 * kSecond),
                Replica("a", 22 * kSecond, 60 * kSecond), Replica("b", 23 * kSecond, 60 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 15);    // 5 to 19 s
  AddSteps(life, 30 * kSecond, kSecond, 11, 40);  // 30 to 59 s, from a checkpoint of step 10
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.attempts, 2);
  // Steps 11 to 15, and the second of the 16th.
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 6 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kRecovery), 5 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 10 * kSecond + 30 * kSecond);
  EXPECT_EQ(FactsOfSteps(life).repeated, 5);
  EXPECT_EQ(FactsOfSteps(life).last, 40);
  EXPECT_EQ(FactsOfSteps(life).step_millis, 1000);
}

TEST(LedgerOf, TheSavingOfTheCheckpointThatWasUsedIsNotLost) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, 25 * kSecond), Replica("a", 27 * kSecond, 60 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 10);
  AddSteps(life, 18 * kSecond, kSecond, 11, 15);
  AddSteps(life, 40 * kSecond, kSecond, 11, 30);
  // Because a line says how long it took, it began a little before the step was printed.
  life.spans = {{14 * kSecond - 1, 17 * kSecond, Bucket::kCheckpointSave, false, "log"}};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kCheckpointSave), 3 * kSecond + 1);
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 5 * kSecond + 1500);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 30 * kSecond - 1);
}

TEST(LedgerOf, APodThatWasReplacedWithinASecondKeepsItsLastSteps) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, 20 * kSecond), Replica("a", 20 * kSecond, 60 * kSecond)};
  // Known to the second: it began at 20.9 s, and the one before it printed until then.
  life.lives[1].created = life.lives[1].scheduled = life.lives[1].accepted = life.lives[1].started =
      20 * kSecond;
  AddSteps(life, 5700, kSecond, 1, 15);  // the last at 19.7 s
  life.steps.push_back({20'700, 16, 0});
  AddSteps(life, 30 * kSecond, kSecond, 11, 40);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.attempts, 2);
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 6 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 10 * kSecond + 30 * kSecond);
  EXPECT_EQ(FactsOfSteps(life).repeated, 6);
  // Of one step that is made again, and of none, the same.
  for (const int64_t resumed : {16, 17}) {
    life.steps.resize(16);
    AddSteps(life, 30 * kSecond, kSecond, resumed, 45);
    const Ledger other = LedgerOf(life);
    EXPECT_EQ(Of(other, Bucket::kSteps), 45 * kSecond) << resumed;
    EXPECT_EQ(Of(other, Bucket::kLostProgress), (17 - resumed) * kSecond) << resumed;
  }
}

TEST(LedgerOf, BetweenTwoPrintedStepsTheCheckpointIsFoundByTheStepsMadeSince) {
  Life life = Finished(100 * kSecond);
  life.lives = {Replica("a", 0, 40 * kSecond), Replica("a", 42 * kSecond, 100 * kSecond)};
  AddSteps(life, 12 * kSecond, 10 * kSecond, 10, 30, 10);  // 12, 22, 32 s
  AddSteps(life, 60 * kSecond, 10 * kSecond, 30, 60, 10);  // resumed at 20
  const Ledger ledger = LedgerOf(life);
  // From 22 s on, and what was begun of the next ten.
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 18 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 20 * kSecond + 40 * kSecond);
}

TEST(LedgerOf, OfStepsOfWhichOneASecondIsKeptTheFirstTwoShowHowManyWereLost) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, 9 * kSecond), Replica("a", 10 * kSecond, 60 * kSecond)};
  // Of steps of 0.3 s from 5 s on: the first two, the last of each second, and the last of all.
  for (const int64_t step : {1, 2, 3, 6, 10}) life.steps.push_back({5000 + step * 300, step, 0});
  // From a checkpoint of step 5 on, at 15 s.
  for (const int64_t step : {6, 7, 8, 11, 14, 18, 20}) {
    life.steps.push_back({15'000 + (step - 5) * 300, step, 0});
  }
  const Ledger ledger = LedgerOf(life);
  // Steps 6 to 10, and one and a half of what was cut off.
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 5 * 300 + 450);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 20 * 300);
}

TEST(LedgerOf, ProgramsThatBeganAgainWithinTheirPodsAreSeenByTheirNumbers) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, 60 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 20);    // until 24 s
  AddSteps(life, 36 * kSecond, kSecond, 16, 39);  // until 59 s
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.attempts, 2);
  EXPECT_EQ(Of(ledger, Bucket::kRecovery), 11 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 5 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 15 * kSecond + 24 * kSecond);
}

TEST(LedgerOf, OfALifeWhoseEndNothingShowsTheStepsShowIt) {
  Life life = Finished(60 * kSecond);
  life.lives = {Replica("a", 0, std::nullopt), Replica("a", 30 * kSecond, 60 * kSecond)};
  life.lives[1].created = life.lives[1].scheduled = life.lives[1].started;
  AddSteps(life, 5 * kSecond, kSecond, 1, 10);    // until 14 s
  AddSteps(life, 40 * kSecond, kSecond, 11, 30);  // until 59 s
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.attempts, 2);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 10 * kSecond + 20 * kSecond);
  // Half a stride more than a step is cut off; then it was down until 32 s.
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 1500);
  EXPECT_EQ(Of(ledger, Bucket::kRecovery), 32 * kSecond - 15'500);
}

TEST(LedgerOf, NumbersThatBeginAnewWithEachEpochAreNoRestart) {
  Life life = Finished(40 * kSecond);
  life.lives = {Replica("a", 0, 40 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 10);
  AddSteps(life, 15 * kSecond, kSecond, 1, 10);
  AddSteps(life, 25 * kSecond, kSecond, 1, 10);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.attempts, 1);
  EXPECT_EQ(Of(ledger, Bucket::kLostProgress), 0);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 30 * kSecond);
}

TEST(LedgerOf, ASuspendedJobIsIdleAndWaitsForItsPlaceAgain) {
  Life life = Finished(100 * kSecond);
  life.lives = {Replica("a", 0, 30 * kSecond), Replica("a", 50 * kSecond, 100 * kSecond)};
  life.lives[0].resume = "first";
  life.lives[1].resume = "second";
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kIdle), 20 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kQueued), 2 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kRecovery), 0);
}

TEST(LedgerOf, AJobThatIsSuspendedNowIsIdle) {
  Life life;
  life.now = 90 * kSecond;
  life.suspended = 30 * kSecond;
  life.lives = {Replica("a", 0, 30 * kSecond)};
  EXPECT_EQ(Of(LedgerOf(life), Bucket::kIdle), 60 * kSecond);
}

TEST(LedgerOf, AJobThatWasDeletedWhileSuspendedWasIdle) {
  Life life;
  life.now = 200 * kSecond;
  life.suspended = 30 * kSecond;
  life.ended = 90 * kSecond;
  life.lives = {Replica("a", 0, 30 * kSecond)};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kIdle), 60 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kEnding), 0);
}

TEST(LedgerOf, AFailureThatNobodyHasMendedYetIsRecovery) {
  Life life;
  life.now = 50 * kSecond;
  life.lives = {Replica("a", 0, 40 * kSecond), Replica("b", 0, std::nullopt)};
  EXPECT_EQ(Of(LedgerOf(life), Bucket::kRecovery), 10 * kSecond);
}

TEST(LedgerOf, SilenceBeforeAFailureIsAStall) {
  Life life;
  life.ended = 400 * kSecond;
  life.has_finished = true;
  life.step_source = "steps";
  life.lives = {Replica("a", 0, 400 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 10);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kStalled), 386 * kSecond);
  EXPECT_EQ(ledger[Bucket::kStalled].estimated, 386 * kSecond);
}

TEST(LedgerOf, WhatWitnessesSawHidesTheStepsInWhichItWas) {
  Life life = Finished(40 * kSecond);
  life.lives = {Replica("a", 0, 40 * kSecond)};
  AddSteps(life, 5 * kSecond, kSecond, 1, 30);
  life.spans = {{10 * kSecond, 13 * kSecond, Bucket::kCheckpointSave, true, "log"},
                {20 * kSecond, 25 * kSecond, Bucket::kStalled, true, "stall watch"}};
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(Of(ledger, Bucket::kCheckpointSave), 3 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kStalled), 5 * kSecond);
  EXPECT_EQ(Of(ledger, Bucket::kSteps), 22 * kSecond);
}

// A time that may be missing, to the second or finer, on a clock that jumps.
rc::Gen<MaybeMillis> SomeTime() {
  return rc::gen::weightedOneOf<MaybeMillis>(
      {{2, rc::gen::just(MaybeMillis())},
       {4, rc::gen::map(rc::gen::inRange<Millis>(-20, 200),
                        [](Millis at) { return MaybeMillis(at * kSecond); })},
       {4, rc::gen::map(rc::gen::inRange<Millis>(-20'000, 200'000),
                        [](Millis at) { return MaybeMillis(at); })}});
}

Life SomeLife() {
  const auto at = rc::gen::inRange<Millis>(-20'000, 200'000);
  Life life;
  life.submitted = *at;
  life.now = *at;
  life.ended = *SomeTime();
  life.suspended = *SomeTime();
  life.has_succeeded = *rc::gen::arbitrary<bool>();
  life.step_source = "steps";
  const int lives = *rc::gen::inRange(0, 9);
  for (int i = 0; i < lives; ++i) {
    life.lives.push_back({*rc::gen::element<std::string>("a", "b", "c"),
                          *rc::gen::element<std::string>("", "x", "y"),
                          *rc::gen::inRange<int64_t>(-1, 9), *SomeTime(), *SomeTime(), *SomeTime(),
                          *SomeTime(), *SomeTime(), *SomeTime(), *SomeTime(),
                          *rc::gen::arbitrary<bool>()});
  }
  const int steps = *rc::gen::inRange(0, 40);
  Millis time = *at;
  int64_t step = *rc::gen::inRange<int64_t>(0, 50);
  for (int i = 0; i < steps; ++i) {
    time += *rc::gen::weightedOneOf<Millis>(
        {{9, rc::gen::inRange<Millis>(0, 3000)}, {1, rc::gen::inRange<Millis>(-60'000, 60'000)}});
    step += *rc::gen::weightedOneOf<int64_t>(
        {{9, rc::gen::inRange<int64_t>(0, 3)}, {1, rc::gen::inRange<int64_t>(-40, 40)}});
    life.steps.push_back({time, step, *rc::gen::inRange<int64_t>(0, 2)});
  }
  if (*rc::gen::inRange(0, 20) == 0) {
    life.steps.push_back({*rc::gen::arbitrary<Millis>(), *rc::gen::arbitrary<int64_t>(),
                          *rc::gen::arbitrary<int64_t>()});
  }
  life.lines = *rc::gen::container<std::vector<Millis>>(at);
  const int spans = *rc::gen::inRange(0, 5);
  for (int i = 0; i < spans; ++i) {
    life.spans.push_back({*at, *at, static_cast<Bucket>(*rc::gen::inRange<int>(0, kBuckets)),
                          *rc::gen::arbitrary<bool>(), "a witness"});
  }
  // Looks at the ranks' stacks, each of which stands for some seconds.
  const int looks = *rc::gen::inRange(0, 30);
  Millis looked = *at;
  for (int i = 0; i < looks; ++i) {
    looked += *rc::gen::inRange<Millis>(-1000, 9000);
    life.spans.push_back(
        {looked - 2500, looked + 2500,
         *rc::gen::element(Bucket::kRendezvous, Bucket::kDataWait, Bucket::kCheckpointSave), false,
         "looks"});
  }
  // What ranks have measured, by clocks that jump.
  const int meetings = *rc::gen::inRange(0, 5);
  for (int i = 0; i < meetings; ++i) {
    const Millis begin = *rc::gen::inRange<Millis>(-10'000, 200'000);
    life.spans.push_back({begin, begin + *rc::gen::inRange<Millis>(-1000, 60'000),
                          Bucket::kRendezvous, true, "ranks"});
  }
  return life;
}

RC_GTEST_PROP(LedgerOf, AddsUpToTheWallClockForEveryLife, ()) {
  const Life life = SomeLife();
  const Ledger ledger = LedgerOf(life);
  const Millis end = std::max(life.submitted, life.ended.value_or(life.now));
  RC_ASSERT(ledger.wall() == end - life.submitted);
  Millis sum = 0;
  Millis at = life.submitted;
  for (const Segment& segment : ledger.segments) {
    RC_ASSERT(segment.begin == at);
    RC_ASSERT(segment.length() > 0);
    RC_ASSERT(segment.bucket == Bucket::kUnknown || !segment.source.empty());
    at = segment.end;
  }
  RC_ASSERT(at == end);
  for (const Sum& of : ledger.sums) {
    RC_ASSERT(of.millis >= 0);
    RC_ASSERT(of.estimated >= 0 && of.estimated <= of.millis);
    sum += of.millis;
  }
  RC_ASSERT(sum == ledger.wall());
  RC_ASSERT(ledger.goodput() >= 0 && ledger.goodput() <= 1);
  RC_ASSERT(ledger.effective() <= ledger.goodput() || ledger.wall() == 0);
  RC_ASSERT(FactsOfSteps(life).repeated >= 0);
}

}  // namespace
}  // namespace runs

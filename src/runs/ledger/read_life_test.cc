#include "runs/ledger/read_life.h"

#include <gtest/gtest.h>

#include "runs/ledger/advice.h"
#include "runs/ledger/ledger_json.h"

namespace runs {
namespace {

text::Json Json(std::string_view text) { return *text::ParseJson(text); }

base::Time At(std::string_view time) {
  return *base::ParseRfc3339("2026-07-30T10:" + std::string(time) + "Z");
}

const char* kJob = R"({
  "metadata": {"name": "a", "creationTimestamp": "2026-07-30T10:00:00Z", "annotations": {
    "muster.dev/stalls": "2026-07-30T10:01:00Z/2026-07-30T10:01:20Z nonsense"}},
  "status": {"completionTime": "2026-07-30T10:10:00Z",
             "conditions": [{"type": "Created", "status": "True"},
                            {"type": "Succeeded", "status": "True"}]}})";

const char* kPod = R"({
  "metadata": {"name": "a-master-0", "creationTimestamp": "2026-07-30T10:00:01Z"},
  "spec": {"containers": [{"name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]},
  "status": {"phase": "Succeeded", "startTime": "2026-07-30T10:00:11Z",
    "conditions": [{"type": "PodScheduled", "status": "True",
                    "lastTransitionTime": "2026-07-30T10:00:10Z"}],
    "initContainerStatuses": [{"name": "code", "state": {"terminated": {
      "exitCode": 0, "startedAt": "2026-07-30T10:00:12Z", "finishedAt": "2026-07-30T10:00:20Z"}}}],
    "containerStatuses": [{"name": "pytorch", "restartCount": 1,
      "lastState": {"terminated": {"exitCode": 1, "startedAt": "2026-07-30T10:00:21Z",
                                   "finishedAt": "2026-07-30T10:02:00Z"}},
      "state": {"terminated": {"exitCode": 0, "startedAt": "2026-07-30T10:02:30Z",
                               "finishedAt": "2026-07-30T10:09:58Z"}}}]}})";

TEST(LifeOf, ReadsTheTimesOfJobAndPods) {
  const text::Json job = Json(kJob), pod = Json(kPod);
  const Life life = LifeOf(job, {{&pod, std::nullopt}}, std::nullopt, At("20:00"));
  EXPECT_TRUE(life.has_succeeded);
  ASSERT_EQ(life.lives.size(), 2u);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.wall(), 600'000);
  EXPECT_EQ(ledger[Bucket::kQueued].millis, 10'000);
  EXPECT_EQ(ledger[Bucket::kAdmitted].millis, 2'000);
  EXPECT_EQ(ledger[Bucket::kImage].millis, 9'000);
  EXPECT_EQ(ledger[Bucket::kRecovery].millis, 30'000);
  EXPECT_EQ(ledger[Bucket::kStalled].millis, 20'000);
  EXPECT_EQ(ledger[Bucket::kEnding].millis, 2'000);
  EXPECT_EQ(ledger.attempts, 2);
  EXPECT_EQ(ledger[Bucket::kQueued].gpu_millis, 0);
  // From its place to its end, between the container's two lives too.
  EXPECT_EQ(ledger.gpu_millis(), 2 * 588'000);
}

TEST(LifeOf, OfARestartThatNoStatusShowsTheStepsShowIt) {
  std::string third(kPod);
  third.replace(third.find("\"restartCount\": 1"), 17, "\"restartCount\": 3");
  const text::Json job = Json(kJob), pod = Json(third);
  Life life = LifeOf(job, {{&pod, std::nullopt}}, std::nullopt, At("20:00"));
  // Its first starts: from 00:20 to 00:21, and before it started for the second last time.
  ASSERT_EQ(life.lives.size(), 3u);
  EXPECT_EQ(life.lives[0].started, ToMillis(At("00:20")));
  EXPECT_FALSE(life.lives[0].ended);
  const Ledger ledger = LedgerOf(life);
  EXPECT_EQ(ledger.wall(), 600'000);
  EXPECT_EQ(ledger.gpu_millis(), 2 * 588'000);
}

// A proxy among the init containers, and one beside the program that was started again.
TEST(LifeOf, TheTimesOfSidecarsAreNotTheProgramsOwn) {
  const text::Json job = Json(kJob);
  const text::Json pod = Json(R"({
    "metadata": {"name": "a-master-0", "creationTimestamp": "2026-07-30T10:00:01Z"},
    "spec": {"initContainers": [{"name": "mesh", "restartPolicy": "Always"}],
             "containers": [{"name": "proxy"}, {"name": "pytorch"}]},
    "status": {"phase": "Succeeded", "startTime": "2026-07-30T10:00:11Z",
      "initContainerStatuses": [{"name": "mesh", "state": {"terminated": {
        "exitCode": 0, "startedAt": "2026-07-30T10:00:12Z", "finishedAt": "2026-07-30T10:09:59Z"}}}],
      "containerStatuses": [
        {"name": "proxy", "restartCount": 2,
         "lastState": {"terminated": {"exitCode": 1, "startedAt": "2026-07-30T10:01:00Z",
                                      "finishedAt": "2026-07-30T10:02:00Z"}},
         "state": {"terminated": {"exitCode": 0, "startedAt": "2026-07-30T10:02:30Z",
                                  "finishedAt": "2026-07-30T10:09:58Z"}}},
        {"name": "pytorch", "restartCount": 0, "state": {"terminated": {
          "exitCode": 0, "startedAt": "2026-07-30T10:00:21Z",
          "finishedAt": "2026-07-30T10:09:50Z"}}}]}})");
  const Life life = LifeOf(job, {{&pod, std::nullopt}}, std::nullopt, At("20:00"));
  ASSERT_EQ(life.lives.size(), 1u);
  EXPECT_EQ(life.lives[0].started, ToMillis(At("00:21")));
  EXPECT_EQ(life.lives[0].ended, ToMillis(At("09:58")));
  EXPECT_FALSE(life.lives[0].init_begin || life.lives[0].init_end);
}

TEST(LifeOf, APodThatWentWithoutAWordEndedWhenItWasDeleted) {
  const text::Json job = Json(R"({"metadata": {"creationTimestamp": "2026-07-30T10:00:00Z"}})");
  const text::Json pod = Json(R"({"metadata": {"name": "a",
      "creationTimestamp": "2026-07-30T10:00:00Z"}, "status": {"phase": "Running",
      "containerStatuses": [{"name": "pytorch",
        "state": {"running": {"startedAt": "2026-07-30T10:00:05Z"}}}]}})");
  const Life life = LifeOf(job, {{&pod, At("00:30")}}, At("00:40"), At("20:00"));
  EXPECT_EQ(life.lives.at(0).ended, ToMillis(At("00:30")));
  EXPECT_EQ(LedgerOf(life).wall(), 40'000);
}

TEST(LifeOf, OfAnObjectWithoutTimesThereIsNoTime) {
  const text::Json job = Json("{}");
  EXPECT_EQ(LedgerOf(LifeOf(job, {}, std::nullopt, At("00:00"))).wall(), 0);
}

TEST(LedgerToJson, NamesEachBucketAndAddsUp) {
  const text::Json job = Json(kJob), pod = Json(kPod);
  const Life life = LifeOf(job, {{&pod, std::nullopt}}, std::nullopt, At("20:00"));
  const text::Json json = LedgerToJson(LedgerOf(life));
  int64_t of_buckets = 0, of_segments = 0;
  const text::Array* buckets = text::FindArray(json, {"buckets"});
  ASSERT_EQ(buckets->size(), kBuckets);
  for (const text::Json& bucket : *buckets) of_buckets += *text::GetInt(bucket, {"ms"});
  for (const text::Json& segment : *text::FindArray(json, {"segments"})) {
    EXPECT_EQ(*text::GetInt(segment, {"fromMs"}), of_segments);
    of_segments += *text::GetInt(segment, {"ms"});
  }
  EXPECT_EQ(of_buckets, *text::GetInt(json, {"wallMs"}));
  EXPECT_EQ(of_segments, of_buckets);
  EXPECT_TRUE(StepsToJson(life, FactsOfSteps(life)).is_null());
}

TEST(GreatestSaving, IsWhereMostOfTheGpuTimeWentThatMadeNoStep) {
  const Claim steps{0, 900, Bucket::kSteps, Layer::kSteps, true, ""};
  const Claim queued{900, 990, Bucket::kQueued, Layer::kPhases, true, ""};
  const Claim ending{990, 1000, Bucket::kEnding, Layer::kPhases, true, ""};
  const auto by_time = GreatestSaving(MakeLedger(0, 1000, {steps, queued, ending}, {}, {}));
  ASSERT_TRUE(by_time);
  EXPECT_EQ(by_time->bucket, Bucket::kQueued);
  const auto by_gpus =
      GreatestSaving(MakeLedger(0, 1000, {steps, queued, ending}, {{980, 1000, 1}}, {}));
  ASSERT_TRUE(by_gpus);
  EXPECT_EQ(by_gpus->bucket, Bucket::kQueued);
  EXPECT_FALSE(GreatestSaving(MakeLedger(0, 900, {steps}, {}, {})));
}

TEST(AddedUp, AddsTheSumsOfRuns) {
  const Claim steps{0, 900, Bucket::kSteps, Layer::kSteps, true, ""};
  const Ledger one = MakeLedger(0, 1000, {steps}, {{0, 1000, 2}}, {});
  const Ledger all = AddedUp({one, one});
  EXPECT_EQ(all.wall(), 2000);
  EXPECT_EQ(all[Bucket::kSteps].millis, 1800);
  EXPECT_EQ(all.gpu_millis(), 4000);
  EXPECT_DOUBLE_EQ(all.goodput(), 0.9);
}

}  // namespace
}  // namespace runs

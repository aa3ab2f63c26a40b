#include "runs/progress/status_post.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace runs {
namespace {

constexpr std::string_view kTime = R"("lastUpdatedTime": "2026-11-24T10:00:00.123456+00:00")";

std::string Refusal(const std::string& body) {
  const auto post = ReadStatusPost(body);
  return post ? "" : post.error().message;
}

std::string WithStatus(std::string_view fields) {
  return fmt::format(R"({{"trainerStatus": {{{}, {}}}}})", fields, kTime);
}

TEST(ReadStatusPost, OfTransformersReportsStepsEpochAndScalars) {
  const auto post = ReadStatusPost(WithStatus(
      R"("progressPercentage": 12, "estimatedRemainingSeconds": 90, "metrics": [
        {"name": "loss", "value": "0.51"}, {"name": "learning_rate", "value": "5e-05"},
        {"name": "grad_norm", "value": "nan"}, {"name": "epoch", "value": "0.4"},
        {"name": "note", "value": "warm"}, {"name": "current_step", "value": "120"},
        {"name": "total_steps", "value": "1000"}, {"name": "current_epoch", "value": "0.36"}])"));
  ASSERT_TRUE(post) << post.error().message;
  EXPECT_EQ(post->percent, 12);
  EXPECT_EQ(post->progress.seconds_left, 90);
  EXPECT_EQ(post->progress.step, 120);
  EXPECT_EQ(post->progress.steps, 1000);
  EXPECT_EQ(post->progress.epoch, 0.36);
  ASSERT_EQ(post->progress.scalars.size(), 3u);
  EXPECT_EQ(post->progress.scalars[1], (std::pair<std::string, double>("learning_rate", 5e-05)));
  EXPECT_TRUE(std::isnan(post->progress.scalars[2].second));
}

TEST(ReadStatusPost, AnswersWhatWasUnderstood) {
  EXPECT_EQ(
      ReadStatusPost(WithStatus(R"("progressPercentage": 5, "extra": 1, "metrics": null)"))->answer,
      R"({"trainerStatus":{"progressPercentage":5,"lastUpdatedTime":"2026-11-24T10:00:00Z"}})"
      "\n");
  EXPECT_EQ(ReadStatusPost("{}")->answer, "{}\n");
  EXPECT_EQ(ReadStatusPost(R"({"trainerStatus": null})")->answer, "{}\n");
}

TEST(ReadStatusPost, WhatGoCannotDecodeIsAnInvalidPayload) {
  for (const std::string& body :
       {std::string(), std::string("invalid payload"), std::string("{}{}"), std::string("{}]"),
        std::string("[]"), std::string(R"({"trainerStatus": 5})"),
        WithStatus(R"("progressPercentage": "5")"), WithStatus(R"("progressPercentage": 5.5)"),
        WithStatus(R"("estimatedRemainingSeconds": 3000000000)"),
        WithStatus(R"("metrics": {"loss": "1"})"), WithStatus(R"("metrics": [5])"),
        WithStatus(R"("metrics": [{"name": "loss", "value": 0.5}])"),
        std::string(R"({"trainerStatus": {"lastUpdatedTime": "soon"}})"),
        std::string(kMostPostBytes + 1, ' ')}) {
    EXPECT_EQ(Refusal(body), "Invalid payload") << body.substr(0, 80);
  }
}

TEST(ReadStatusPost, WhatTheDefinitionForbidsIsNamed) {
  EXPECT_EQ(Refusal(WithStatus(R"("progressPercentage": 150)")),
            "status.trainerStatus.progressPercentage: Invalid value: 150: must be less than or "
            "equal to 100");
  EXPECT_EQ(Refusal(WithStatus(R"("estimatedRemainingSeconds": -1)")),
            "status.trainerStatus.estimatedRemainingSeconds: Invalid value: -1: must be greater "
            "than or equal to 0");
  EXPECT_EQ(Refusal(WithStatus(R"("metrics": [{"name": "", "value": "1"}])")),
            "status.trainerStatus.metrics[0].name: Invalid value: must be 1 to 64 bytes long");
  EXPECT_EQ(Refusal(R"({"trainerStatus": {"progressPercentage": 1}})"),
            "status.trainerStatus: Invalid value: lastUpdatedTime is required when trainerStatus "
            "is present");
  std::string many = R"({"name": "a", "value": "1"})";
  for (size_t i = 0; i < kMostPostMetrics; ++i) many += R"(, {"name": "a", "value": "1"})";
  EXPECT_EQ(Refusal(WithStatus(fmt::format(R"("metrics": [{}])", many))),
            "status.trainerStatus.metrics: Invalid value: 257: must have at most 256 items");
}

TEST(ReadStatusPost, NumbersThatAreNoCountAreNoStep) {
  for (const char* value : {"-1", "nan", "inf", "1e300"}) {
    const auto post = ReadStatusPost(
        WithStatus(fmt::format(R"("metrics": [{{"name": "current_step", "value": "{}"}}, {{"name":
            "current_epoch", "value": "inf"}}])",
                               value)));
    ASSERT_TRUE(post);
    EXPECT_FALSE(post->progress.step) << value;
    EXPECT_FALSE(post->progress.epoch);
  }
}

}  // namespace
}  // namespace runs

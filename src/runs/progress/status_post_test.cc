#include "runs/progress/status_post.h"

#include <gtest/gtest.h>

namespace runs {
namespace {

std::string ErrorOf(std::string_view body) {
  const auto posted = ReadPost(body);
  return posted ? "" : posted.error().message;
}

TEST(ReadPost, ReadsWhatTransformersPosts) {
  const auto posted = ReadPost(R"({"trainerStatus": {"progressPercentage": 45,
      "estimatedRemainingSeconds": 120, "lastUpdatedTime": "2026-07-30T10:00:00.5+00:00",
      "metrics": [{"name": "loss", "value": "0.23"}, {"name": "grad_norm", "value": "nan"},
                  {"name": "current_step", "value": "45"}, {"name": "total_steps", "value": "100"},
                  {"name": "current_epoch", "value": "0.45"}, {"name": "note", "value": "x"}]}})");
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->percent, 45);
  EXPECT_EQ(posted->progress.seconds_left, 120);
  EXPECT_EQ(posted->progress.step, 45);
  EXPECT_EQ(posted->progress.steps, 100);
  EXPECT_EQ(posted->progress.epoch, 0.45);
  ASSERT_EQ(posted->progress.scalars.size(), 2u);
  EXPECT_EQ(posted->progress.scalars[0].second, 0.23);
  EXPECT_EQ(posted->at % 1000, 500);
}

TEST(ReadPost, AnEmptyStatusIsTaken) {
  EXPECT_TRUE(ReadPost("{}")->is_empty);
  EXPECT_TRUE(ReadPost(R"({"trainerStatus": null, "other": 1})")->is_empty);
}

TEST(ReadPost, RefusesInKubeflowsWords) {
  const std::string time = R"("lastUpdatedTime": "2026-07-30T10:00:00Z")";
  EXPECT_EQ(ErrorOf("{"), "Invalid payload");
  EXPECT_EQ(ErrorOf("[]"), "Invalid payload");
  EXPECT_EQ(ErrorOf(R"({"trainerStatus": 3})"), "Invalid payload");
  EXPECT_EQ(ErrorOf(R"({"trainerStatus": {}})"),
            "lastUpdatedTime is required when trainerStatus is present");
  EXPECT_EQ(ErrorOf(R"({"trainerStatus": {"lastUpdatedTime": "soon"}})"), "Invalid payload");
  EXPECT_NE(ErrorOf(R"({"trainerStatus": {"progressPercentage": 101, )" + time + "}}")
                .find("less than or equal to 100"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"trainerStatus": {"estimatedRemainingSeconds": -1, )" + time + "}}")
                .find("greater than or equal to 0"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(R"({"trainerStatus": {"progressPercentage": "much", )" + time + "}}"),
            "Invalid payload");
  EXPECT_NE(ErrorOf(R"({"trainerStatus": {"metrics": [{"name": "a"}], )" + time + "}}")
                .find("metrics[0].value"),
            std::string::npos);
  EXPECT_EQ(ErrorOf("{\"a\": \"" + std::string(kMaxPost, 'x') + "\"}"), "Invalid payload");
}

TEST(JobOfPostPath, IsReadAsItIsMade) {
  const auto job = JobOfPostPath(PostPathOf("default", "train"));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->namespace_name, "default");
  EXPECT_EQ(job->name, "train");
  for (const char* path :
       {"/", "/apis/trainer.kubeflow.org/v1alpha1/namespaces/a/trainjobs//status",
        "/apis/trainer.kubeflow.org/v1alpha1/namespaces/status",
        "/apis/trainer.kubeflow.org/v1alpha1/namespaces/a/trainjobs/../status"}) {
    EXPECT_FALSE(JobOfPostPath(path)) << path;
  }
}

}  // namespace
}  // namespace runs

#include "local/daemon/progress/progress_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "local/daemon/progress/progress_keeper.h"
#include "local/daemon/progress/progress_page.h"

namespace local::daemon {
namespace {

class ProgressFilesTest : public testing::Test {
 protected:
  ProgressFilesTest() {
    char folder[] = "/tmp/muster-progress-XXXXXX";
    state_ = ::mkdtemp(folder);
  }
  ~ProgressFilesTest() override { static_cast<void>(base::RemoveTree(state_)); }

  static runs::LineProgress Step(int64_t step) {
    runs::LineProgress progress;
    progress.step = step;
    progress.scalars = {{"loss", 0.5}};
    return progress;
  }

  std::string state_;
};

TEST_F(ProgressFilesTest, WhatWasToldIsThereForTheNextDaemon) {
  {
    ProgressFiles files(state_);
    files.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  }
  ProgressFiles files(state_);
  EXPECT_EQ(files.LastOf("job-1", "log of a"), 5000);
  EXPECT_FALSE(files.LastOf("job-1", "log of b"));
  const text::Json json = files.Of("job-1", 10);
  EXPECT_EQ(text::GetInt(json.at("sources").as_array().at(0), {"step"}), 7);
  EXPECT_EQ(json.at("series").as_array().size(), 1u);
  EXPECT_FALSE(json.as_object().contains("steps"));
  EXPECT_EQ(text::ToJson(files.Of("job-1", 10, true).at("steps").at("points")), "[[5000,7,0]]");
  files.Close("job-1");
  EXPECT_EQ(files.Of("job-1", 10), json);
  EXPECT_TRUE(files.OfRunning().at("items").as_array().empty());
}

TEST_F(ProgressFilesTest, ItGoesWithTheRun) {
  ProgressFiles files(state_);
  files.Note("gone", "a", 5000, Step(7), std::nullopt);
  files.Note("there", "a", 5000, Step(7), std::nullopt);
  files.Write();
  files.ForgetUnless([](const std::string& uid) { return uid == "there"; });
  EXPECT_TRUE(files.Of("gone", 10).at("sources").as_array().empty());
  EXPECT_EQ(files.Of("there", 10).at("sources").as_array().size(), 1u);
  EXPECT_NE(::access((state_ + "/progress/gone").c_str(), F_OK), 0);
}

TEST_F(ProgressFilesTest, AUidIsNoPath) {
  ProgressFiles files(state_);
  for (const char* uid : {"", "../x", "a/b", "."}) {
    files.Note(uid, "a", 5000, Step(7), std::nullopt);
    EXPECT_TRUE(files.Of(uid, 10).at("sources").as_array().empty());
  }
  files.Write();
  EXPECT_TRUE(base::EntriesOf(state_ + "/progress").empty());
}

TEST_F(ProgressFilesTest, ThePageAnswersForOneAndForThoseThatRun) {
  ProgressFiles files(state_);
  RankFiles ranks(state_);
  files.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  ranks.Note("job-1", {runs::RankSample()});
  net::HttpRequest request;
  request.method = "GET";
  request.target = "/muster/progress";
  EXPECT_EQ(
      text::ParseJson(AnswerProgress(files, ranks, request)->body)->at("items").as_array().size(),
      1u);
  request.target = "/muster/progress?uid=job-1&points=0";
  EXPECT_TRUE(text::ParseJson(AnswerProgress(files, ranks, request)->body)
                  ->at("series")
                  .as_array()
                  .empty());
  request.target = "/muster/progress?uid=job-1&ranks=100";
  EXPECT_EQ(
      text::ParseJson(AnswerProgress(files, ranks, request)->body)->at("ranks").as_array().size(),
      1u);
  for (const char* wrong : {"points=many", "ranks=-1", "ranks=1x"}) {
    request.target = std::string("/muster/progress?uid=job-1&") + wrong;
    EXPECT_EQ(AnswerProgress(files, ranks, request)->status, 400) << wrong;
  }
  request.target = "/muster/progresses";
  EXPECT_FALSE(AnswerProgress(files, ranks, request));
}

TEST(ReadProgressPod, IsOfAJobAndRuns) {
  const auto pod = [](const char* phase, const char* owner) {
    return *text::ParseJson(std::string(R"({"metadata": {"name": "a-master-0", "uid": "p",
        "labels": {"training.kubeflow.org/job-name": "a"},
        "ownerReferences": [{"uid": ")") +
                            owner + R"(", "controller": true}]},
        "spec": {"containers": [{"name": "side"}, {"name": "pytorch"}]},
        "status": {"phase": ")" +
                            phase + "\"}}");
  };
  const auto read = ReadProgressPod(pod("Running", "job-1"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job_uid, "job-1");
  EXPECT_EQ(read->container, "pytorch");
  EXPECT_FALSE(ReadProgressPod(pod("Pending", "job-1")));
  EXPECT_FALSE(ReadProgressPod(pod("Running", "")));
}

}  // namespace
}  // namespace local::daemon

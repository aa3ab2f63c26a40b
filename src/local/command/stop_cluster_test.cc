#include "local/command/stop_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace local::command {
namespace {

class StopClusterTest : public testing::Test {
 protected:
  base::Status Stop(bool force) {
    cluster::Client client(
        cluster::InProcessTransport([this](const net::HttpRequest& request, const auto& responder) {
          asked_.push_back(request.method + " " + request.target);
          responder->Send(Answer(request));
        }));
    return StopCluster(client, base::SystemClock(), force, [this]() -> base::Status {
      ++stops_;
      return {};
    });
  }

  net::HttpResponse Answer(const net::HttpRequest& request) const {
    if (is_broken_) return {500, {}, R"({"kind":"Status","message":"broken","code":500})"};
    if (request.target.find("watch=") != std::string::npos) {
      return {200,
              {},
              R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
              "\n"};
    }
    // DeleteBarePods waits with a list of all pods: the pods in it end while the watch is broken.
    if (request.target.find("/pods") != std::string::npos && request.method == "GET" &&
        request.target.find("Selector") == std::string::npos) {
      const bool has_ended = std::any_of(
          asked_.begin(), asked_.end(),
          [](const std::string& asked) { return asked.find("watch=") != std::string::npos; });
      return {200,
              {},
              R"({"metadata":{"resourceVersion":"7"},"items":[)" + (has_ended ? "" : bare_pods_) +
                  "]}"};
    }
    const bool is_bare = request.target.find("labelSelector=%21") != std::string::npos;
    if (request.target.find("/pods") != std::string::npos && is_bare) {
      return {200, {}, R"({"metadata":{"resourceVersion":"7"},"items":[)" + bare_pods_ + "]}"};
    }
    const bool is_of_job = request.target.find("job-name") != std::string::npos;
    if (request.target.find("/pods") != std::string::npos && is_of_job) {
      return {200, {}, R"({"metadata":{"resourceVersion":"7"},"items":[)" + pods_ + "]}"};
    }
    if (request.target.ends_with("/pytorchjobs/train")) {
      return {200,
              {},
              R"({"metadata":{"name":"train","namespace":"team"},"spec":{},"status":)" +
                  job_status_ + "}"};
    }
    const std::string_view items =
        request.target.ends_with("/nodes") ? R"({"metadata":{"name":"here"}})" : "";
    return {
        200, {}, fmt::format(R"({{"metadata":{{"resourceVersion":"7"}},"items":[{}]}})", items)};
  }

  std::string pods_;
  std::string bare_pods_;
  std::string job_status_ = "{}";
  bool is_broken_ = false;
  int stops_ = 0;
  std::vector<std::string> asked_;
};

TEST_F(StopClusterTest, APodOfANodeThatDoesNotExistIsNotWaitedFor) {
  bare_pods_ =
      R"({"metadata":{"name":"a","namespace":"n","uid":"a"},"spec":{"nodeName":"nowhere"}})";
  const base::Status stopped = Stop(false);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stops_, 1);
}

TEST_F(StopClusterTest, AnIdleClusterIsStoppedWithoutReadingWhatHasEnded) {
  const base::Status stopped = Stop(false);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stops_, 1);
  ASSERT_FALSE(asked_.empty());
  EXPECT_NE(asked_[0].find("fieldSelector=status.phase%21%3DSucceeded"), std::string::npos)
      << asked_[0];
  for (const std::string& request : asked_) {
    EXPECT_EQ(request.find("pytorchjobs"), std::string::npos) << request;
  }
}

TEST_F(StopClusterTest, RefusesWhileAJobRuns) {
  pods_ = R"({"metadata":{"name":"train-master-0","namespace":"team","uid":"u",
    "labels":{"training.kubeflow.org/job-name":"train"}},"spec":{"nodeName":"here"}})";
  const base::Status stopped = Stop(false);
  EXPECT_EQ(stopped.error().message,
            "a job is still running: team/train. `muster down --force` ends it first, as FAILED");
  EXPECT_EQ(stops_, 0);
}

TEST_F(StopClusterTest, RefusesWhilePodsOfNoJobRun) {
  bare_pods_ = R"({"metadata":{"name":"shell","namespace":"default","uid":"s"},
    "spec":{"nodeName":"here"}})";
  EXPECT_EQ(Stop(false).error().message,
            "a pod is still running: default/shell. `muster down --force` ends it first");
  bare_pods_ +=
      R"(,{"metadata":{"name":"b","namespace":"n","uid":"b"},"spec":{"nodeName":"here"}})";
  pods_ = R"({"metadata":{"name":"train-master-0","namespace":"team","uid":"u",
    "labels":{"training.kubeflow.org/job-name":"train"}},"spec":{"nodeName":"here"}})";
  EXPECT_EQ(Stop(false).error().message,
            "a job is still running: team/train, and pods: default/shell, n/b. `muster down "
            "--force` ends them first, jobs as FAILED");
  EXPECT_EQ(stops_, 0);
}

// With cleanPodPolicy None.
TEST_F(StopClusterTest, PodsThatASucceededJobHasLeftAreEndedAndTheJobStaysAsItIs) {
  pods_ = R"({"metadata":{"name":"train-worker-0","namespace":"team","uid":"u",
    "labels":{"training.kubeflow.org/job-name":"train"}},"spec":{"nodeName":"here"}})";
  job_status_ = R"({"conditions":[{"type":"Succeeded","status":"True"}]})";
  EXPECT_EQ(Stop(false).error().message,
            "a pod is still running: team/train-worker-0. `muster down --force` ends it first");
  asked_.clear();
  const base::Status stopped = Stop(true);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stops_, 1);
  std::vector<std::string> writes;
  for (const std::string& asked : asked_) {
    if (!asked.starts_with("GET ")) writes.push_back(asked);
  }
  EXPECT_EQ(writes, std::vector<std::string>{"PATCH /api/v1/namespaces/team/pods/train-worker-0"});
}

TEST_F(StopClusterTest, OneThatDoesNotAnswerIsStoppedByForceOnly) {
  is_broken_ = true;
  EXPECT_FALSE(Stop(false));
  EXPECT_EQ(stops_, 0);
  const base::Status stopped = Stop(true);
  EXPECT_EQ(stops_, 1);
  EXPECT_NE(stopped.error().message.find("is down, but jobs may still be running"),
            std::string::npos);
  EXPECT_NE(stopped.error().message.find("broken"), std::string::npos);
}

TEST_F(StopClusterTest, AServerThatForgetsTheListIsAskedForAnother) {
  bare_pods_ = R"({"metadata":{"name":"shell","namespace":"default","uid":"s"},
    "spec":{"nodeName":"here"}})";
  const base::Status stopped = Stop(true);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stops_, 1);
  const auto watches = std::count_if(asked_.begin(), asked_.end(), [](const std::string& asked) {
    return asked.find("watch=") != std::string::npos;
  });
  EXPECT_EQ(watches, 1);
}

}  // namespace
}  // namespace local::command

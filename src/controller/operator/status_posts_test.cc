#include "controller/operator/status_posts.h"

#include <gtest/gtest.h>

#include "api/status_posts.h"
#include "cluster/testing/fake_server.h"
#include "runs/progress/status_post.h"

namespace controller {
namespace {

constexpr const char* kReview = R"({"status": {"authenticated": true,
    "audiences": ["muster.dev/status"], "user": {"username": "system:serviceaccount:team:default",
    "extra": {"authentication.kubernetes.io/pod-name": ["a-master-0"],
              "authentication.kubernetes.io/pod-uid": ["p-1"]}}}})";
constexpr const char* kPod = R"({"metadata": {"name": "a-master-0", "uid": "p-1",
    "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "a",
                         "uid": "j-1", "controller": true}]}})";
constexpr const char* kBody = R"({"trainerStatus": {"progressPercentage": 42,
    "lastUpdatedTime": "2026-11-24T10:00:00Z"}})";

class StatusPostsTest : public ::testing::Test {
 protected:
  net::HttpRequest Post(std::string_view job, std::string body, std::string_view token = "t") {
    net::HttpRequest request;
    request.method = "POST";
    request.target = api::StatusUrl("", "team", job);
    request.headers = {{"Authorization", "Bearer " + std::string(token)}};
    request.body = std::move(body);
    return request;
  }

  cluster::FakeServer server_;
  cluster::Client client_{server_.Connect()};
};

TEST_F(StatusPostsTest, APodOfTheJobIsAskedAboutOnceAndItsPostIsAnnotated) {
  server_.QueueJson(kReview, 201);
  server_.QueueJson(kPod);
  server_.QueueJson("{}");
  StatusPosts posts(client_, base::SystemClock());
  EXPECT_EQ(posts.Answer(Post("a", kBody)).status, 200);
  EXPECT_EQ(server_.Line(0), "POST /apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(server_.Line(1), "GET /api/v1/namespaces/team/pods/a-master-0");
  EXPECT_EQ(server_.Line(2), "PATCH /apis/kubeflow.org/v1/namespaces/team/pytorchjobs/a");
  const std::string patch = server_.Request(2).body;
  EXPECT_NE(patch.find(R"("uid":"j-1")"), std::string::npos) << patch;
  EXPECT_NE(patch.find(R"(\"percent\":42)"), std::string::npos) << patch;
  // Known by now, and not written again so soon.
  EXPECT_EQ(posts.Answer(Post("a", kBody)).status, 200);
  EXPECT_EQ(posts.Answer(Post("a", "{}{}")).status, 422);
  EXPECT_EQ(posts.Answer(Post("a", std::string(runs::kMostPostBytes + 1, ' '))).status, 413);
  EXPECT_EQ(posts.Answer(Post("b", kBody)).status, 403);
}

TEST_F(StatusPostsTest, WithoutATokenOfAPodItIsForbidden) {
  StatusPosts posts(client_, base::SystemClock());
  EXPECT_EQ(posts.Answer(Post("a", kBody, "")).status, 403);
  server_.QueueJson(R"({"status": {"authenticated": false}})", 201);
  EXPECT_EQ(posts.Answer(Post("a", kBody)).status, 403);
  server_.QueueJson(kReview, 201);
  server_.QueueJson(R"({"metadata": {"name": "a-master-0", "uid": "p-2"}})");
  EXPECT_EQ(posts.Answer(Post("a", kBody)).status, 403);
  net::HttpRequest elsewhere = Post("a", kBody);
  elsewhere.target = "/metrics";
  EXPECT_EQ(posts.Answer(elsewhere).status, 404);
}

TEST_F(StatusPostsTest, WhileTheApiServerDoesNotAnswerItIsAnInternalError) {
  server_.QueueJson(R"({"kind": "Status", "message": "no"})", 403);
  StatusPosts posts(client_, base::SystemClock());
  EXPECT_EQ(posts.Answer(Post("a", kBody)).status, 500);
}

}  // namespace
}  // namespace controller

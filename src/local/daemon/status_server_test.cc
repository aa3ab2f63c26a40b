#include "local/daemon/status_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/resources.h"
#include "base/file.h"
#include "base/folder.h"
#include "local/node/testing/agent_fake_cluster.h"
#include "runs/progress/status_post.h"

namespace local::daemon {
namespace {

constexpr std::string_view kKey = "key";
constexpr std::string_view kPost =
    R"({"trainerStatus": {"progressPercentage": 42, "lastUpdatedTime": "2026-11-24T10:00:00Z"}})";

struct StatusPostTest : testing::Test {
  StatusPostTest() {
    char folder[] = "/tmp/muster-status-XXXXXX";
    state = ::mkdtemp(folder);
    files = std::make_unique<ProgressFiles>(state);
    cluster.Put(api::kPyTorchJobs,
                text::Object{{"metadata", {{"name", "a"}, {"namespace", "team"}, {"uid", "job-1"}}},
                             {"status", text::Object{}}});
    request.method = "POST";
    request.target = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/a/status";
    Authorize("job-1");
    request.body = kPost;
  }
  ~StatusPostTest() override {
    files.reset();
    static_cast<void>(base::RemoveTree(state));
  }

  void Authorize(std::string_view uid) {
    request.headers = {{"Authorization", "Bearer " + node::StatusToken(kKey, uid)}};
  }
  // "403 Forbidden: Forbidden"; of a success "200".
  std::string Answer() {
    const net::HttpResponse response =
        AnswerStatusPost(client, *files, kKey, base::Time(std::chrono::seconds(7)), request);
    if (response.status == 200) return "200";
    const auto json = text::ParseJson(response.body);
    return std::to_string(response.status) + " " + std::string(text::GetString(*json, {"reason"})) +
           ": " + std::string(text::GetString(*json, {"message"}));
  }

  std::string state;
  std::unique_ptr<ProgressFiles> files;
  node::FakeCluster cluster;
  cluster::Client client{cluster.Connect()};
  net::HttpRequest request;
};

TEST_F(StatusPostTest, IsASourceOfTheJobsProgress) {
  EXPECT_EQ(Answer(), "200");
  const text::Json json = files->Of("job-1", 0);
  const text::Json& source = json.at("sources").as_array().at(0);
  EXPECT_EQ(text::GetString(source, {"source"}), "status posts");
  EXPECT_EQ(text::GetInt(source, {"percent"}), 42);
  EXPECT_EQ(text::GetString(source, {"at"}), "1970-01-01T00:00:07.000000Z");
}

TEST_F(StatusPostTest, WithoutTheJobsTokenIsForbidden) {
  request.headers.clear();
  EXPECT_EQ(Answer(), "403 Forbidden: Forbidden");
  Authorize("job-2");
  EXPECT_EQ(Answer(), "403 Forbidden: Forbidden");
  request.headers = {{"Authorization", node::StatusToken(kKey, "job-1")}};
  EXPECT_EQ(Answer(), "403 Forbidden: Forbidden");
  request.headers = {{"Authorization", "Bearer " + node::StatusToken("other", "job-1")}};
  EXPECT_EQ(Answer(), "403 Forbidden: Forbidden");
}

TEST_F(StatusPostTest, ElsewhereNothingIsFound) {
  request.method = "GET";
  EXPECT_EQ(Answer(), "404 NotFound: Not found");
  request.method = "POST";
  request.target = "/api/v1/pods";
  EXPECT_EQ(Answer(), "404 NotFound: Not found");
  request.target = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/b/status";
  EXPECT_EQ(Answer(), "404 NotFound: Train job not found");
}

TEST_F(StatusPostTest, WhatIsTooLargeOrWrongIsRefusedAndNothingNoted) {
  request.body = std::string(runs::kMostPostBytes + 1, ' ');
  EXPECT_EQ(Answer(), "413 RequestEntityTooLarge: Payload too large");
  request.body = "{}{}";
  EXPECT_EQ(Answer(), "422 Invalid: Invalid payload");
  request.body = "{}";
  EXPECT_EQ(Answer(), "200");
  EXPECT_TRUE(files->Of("job-1", 0).at("sources").as_array().empty());
}

TEST_F(StatusPostTest, TheNextServerHasTheSameAddressAndKey) {
  node::StatusEndpoint first;
  {
    const auto server = StatusServer::Listen(state);
    ASSERT_TRUE(server) << server.error().message;
    (*server)->Serve(client, *files, base::SystemClock());
    first = (*server)->endpoint();
  }
  const auto next = StatusServer::Listen(state);
  ASSERT_TRUE(next);
  EXPECT_EQ((*next)->endpoint().address, first.address);
  EXPECT_EQ((*next)->endpoint().key, first.key);
  // A second one beside it takes another port.
  const auto beside = StatusServer::Listen(state);
  ASSERT_TRUE(beside);
  EXPECT_NE((*beside)->endpoint().address, first.address);
}

}  // namespace
}  // namespace local::daemon

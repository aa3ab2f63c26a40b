#include "api/status_posts.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(JobOfStatusPost, IsInThePathOfTheUrl) {
  const std::string url = StatusUrl("http://127.0.0.1:1", "team", "a");
  EXPECT_EQ(url,
            "http://127.0.0.1:1/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/a/"
            "status");
  const auto job = JobOfStatusPost("POST", url.substr(url.find("/apis")));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->namespace_name, "team");
  EXPECT_EQ(job->name, "a");
}

TEST(JobOfStatusPost, OtherRequestsHaveNone) {
  constexpr std::string_view kBase = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/";
  for (const std::string& target :
       {std::string(kBase) + "team/trainjobs/a", std::string(kBase) + "team/trainjobs//status",
        std::string(kBase) + "/trainjobs/a/status", std::string("/api/v1/pods"), std::string("/"),
        std::string(), std::string(kBase) + "team/trainjobs/a/status/x"}) {
    EXPECT_FALSE(JobOfStatusPost("POST", target)) << target;
  }
  EXPECT_FALSE(JobOfStatusPost("GET", std::string(kBase) + "team/trainjobs/a/status"));
}

TEST(BearerToken, IsWhatFollowsItsScheme) {
  EXPECT_EQ(BearerToken("Bearer abc"), "abc");
  for (const char* other : {"", "abc", "Basic abc", "bearer"}) EXPECT_EQ(BearerToken(other), "");
}

TEST(ToBody, IsAStatusOfKubernetes) {
  EXPECT_EQ(ToBody(InvalidPost("a \"b\"")),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"a \"b\"","reason":"Invalid","code":422})");
}

}  // namespace
}  // namespace api

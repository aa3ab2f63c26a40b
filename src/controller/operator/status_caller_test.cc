#include "controller/operator/status_caller.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

text::Json Review(const std::string& status) {
  return *text::ParseJson(R"({"status": )" + status + "}");
}

constexpr std::string_view kUser = R"("user": {"username": "system:serviceaccount:team:default",
    "extra": {"authentication.kubernetes.io/pod-name": ["a-master-0"],
              "authentication.kubernetes.io/pod-uid": ["p-1"]}})";
constexpr std::string_view kOurs = R"("audiences": ["muster.dev/status"], )";

TEST(ReadTokenReview, NamesThePodOfTheToken) {
  const auto pod = ReadTokenReview(
      Review(R"({"authenticated": true, )" + std::string(kOurs) + std::string(kUser) + "}"));
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->namespace_name, "team");
  EXPECT_EQ(pod->name, "a-master-0");
  EXPECT_EQ(pod->uid, "p-1");
}

TEST(ReadTokenReview, OtherTokensNameNone) {
  const std::string ours(kOurs), user(kUser);
  for (const std::string& status :
       {"{" + ours + user + "}", R"({"authenticated": false, )" + ours + user + "}",
        R"({"authenticated": true, )" + user + "}",
        R"({"authenticated": true, "audiences": ["https://kubernetes.default.svc"], )" + user + "}",
        R"({"authenticated": true, )" + ours +
            R"("user": {"username": "system:serviceaccount:team:default"}})",
        R"({"authenticated": true, )" + ours + R"("user": {"username": "admin"}})",
        std::string("{}")}) {
    EXPECT_FALSE(ReadTokenReview(Review(status))) << status;
  }
}

TEST(TokenReviewOf, AsksForTheAudienceOfPosts) {
  EXPECT_EQ(text::ToJson(TokenReviewOf("t")),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
            R"("spec":{"token":"t","audiences":["muster.dev/status"]}})");
}

TEST(JobOfPod, IsTheControllerOfThatPodAlone) {
  const TokenPod token{"team", "a-master-0", "p-1"};
  const auto pod = [](const std::string& uid, const std::string& owner) {
    return *text::ParseJson(R"({"metadata": {"uid": ")" + uid + R"(", "ownerReferences": [)" +
                            owner + "]}}");
  };
  const std::string job =
      R"({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "a", "uid": "j-1",
          "controller": true})";
  const auto found = JobOfPod(pod("p-1", job), token);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "a");
  EXPECT_EQ(found->uid, "j-1");
  EXPECT_FALSE(JobOfPod(pod("p-2", job), token));
  EXPECT_FALSE(JobOfPod(pod("p-1", ""), token));
  EXPECT_FALSE(JobOfPod(
      pod("p-1", R"({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "j-1",
                     "controller": true})"),
      token));
}

}  // namespace
}  // namespace controller

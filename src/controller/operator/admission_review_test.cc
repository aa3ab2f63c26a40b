#include "controller/operator/admission_review.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "net/testing/ignoring_responder.h"
#include "text/json.h"

namespace controller {
namespace {

constexpr std::string_view kGood =
    R"({"metadata":{"name":"j"},"spec":{"pytorchReplicaSpecs":{"Worker":{"template":{"spec":)"
    R"({"containers":[{"name":"pytorch","image":"x"}]}}}}}})";

std::string Review(std::string_view object, std::string_view more = "") {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1",)"
         R"("operation":"CREATE","object":)" +
         std::string(object) + std::string(more) + "}}";
}

text::Json ResponseTo(const std::string& body) {
  const net::HttpResponse answer = AnswerAdmissionReview(body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  const auto review = text::ParseJson(answer.body);
  EXPECT_TRUE(review) << answer.body;
  EXPECT_EQ(text::GetString(*review, {"apiVersion"}), "admission.k8s.io/v1");
  EXPECT_EQ(text::GetString(*review, {"kind"}), "AdmissionReview");
  const text::Json* const response = text::Find(*review, {"response"});
  EXPECT_NE(response, nullptr) << answer.body;
  return response != nullptr ? *response : text::Json();
}

TEST(AdmissionReview, AllowsAGoodJob) {
  EXPECT_EQ(text::ToJson(ResponseTo(Review(kGood))), R"({"uid":"u-1","allowed":true})");
}

TEST(AdmissionReview, RefusesWithEveryReason) {
  const text::Json response = ResponseTo(Review(
      R"({"metadata":{"name":"0-test"},"spec":{"pytorchReplicaSpecs":{"Master":{"template":{"spec":)"
      R"({"containers":[{"name":"pytorch","image":"x"}]}}}}}})"));
  EXPECT_EQ(text::GetBool(response, {"allowed"}), false);
  EXPECT_EQ(text::GetInt(response, {"status", "code"}), 403);
  const std::string_view message = text::GetString(response, {"status", "message"});
  EXPECT_TRUE(message.starts_with("[metadata.name: Invalid value: \"0-test\": should match: "));
  EXPECT_TRUE(
      message.ends_with(", spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1]"))
      << message;
}

TEST(AdmissionReview, TheRequestSaysWhatBecomesOfUnknownFields) {
  std::string job(kGood);
  job.insert(job.find("\"image\""), R"("comand":["a"],)");
  const std::string message =
      R"(unknown field "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].comand": )"
      R"(did you mean "command"?)";
  const text::Json refused =
      ResponseTo(Review(job, R"(,"options":{"kind":"CreateOptions","fieldValidation":"Strict"})"));
  EXPECT_EQ(text::GetBool(refused, {"allowed"}), false);
  EXPECT_EQ(text::GetString(refused, {"status", "message"}), message);
  const text::Json warned = ResponseTo(Review(job));
  EXPECT_EQ(text::GetBool(warned, {"allowed"}), true);
  EXPECT_EQ(*text::Find(warned, {"warnings"}), text::Json(text::Array{text::Json(message)}));
  EXPECT_EQ(text::ToJson(ResponseTo(Review(job, R"(,"options":{"fieldValidation":"Ignore"})"))),
            R"({"uid":"u-1","allowed":true})");
}

TEST(AdmissionReview, WarnsWithoutRefusing) {
  const text::Json response = ResponseTo(Review(
      R"({"metadata":{"name":"j"},"spec":{"elasticPolicy":{"nProcPerNode":2},"pytorchReplicaSpecs":)"
      R"({"Worker":{"template":{"spec":{"containers":[{"name":"pytorch","image":"x"}]}}}}}})"));
  EXPECT_EQ(text::GetBool(response, {"allowed"}), true);
  EXPECT_EQ(text::ToJson(*text::Find(response, {"warnings"})),
            R"(["spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead"])");
}

TEST(AdmissionReview, AnUpdateIsComparedWithWhatWasThere) {
  const auto managed = [](std::string_view manager) {
    return R"({"metadata":{"name":"j"},"spec":{"runPolicy":{"managedBy":")" + std::string(manager) +
           R"("},"pytorchReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[)"
           R"({"name":"pytorch","image":"x"}]}}}}}})";
  };
  std::string review = Review(managed("kueue.x-k8s.io/multikueue"),
                              R"(,"oldObject":)" + managed("kubeflow.org/training-operator"));
  EXPECT_EQ(text::GetBool(ResponseTo(review), {"allowed"}), true);
  review.replace(review.find("CREATE"), 6, "UPDATE");
  EXPECT_EQ(text::GetString(ResponseTo(review), {"status", "message"}),
            "spec.runPolicy.managedBy: Invalid value: \"kueue.x-k8s.io/multikueue\": field is "
            "immutable");
}

TEST(AdmissionReview, WhatIsOnItsWayOutMayGo) {
  EXPECT_EQ(
      text::GetBool(ResponseTo(Review(
                        R"({"metadata":{"name":"j","deletionTimestamp":"2026-01-01T00:00:00Z"}})")),
                    {"allowed"}),
      true);
  std::string review = Review("null", R"(,"oldObject":{})");
  review.replace(review.find("CREATE"), 6, "DELETE");
  EXPECT_EQ(text::GetBool(ResponseTo(review), {"allowed"}), true);
}

TEST(AdmissionReview, WhatIsNoReviewIsRefusedInALine) {
  for (
      const char* body :
      {"", "[]", "null", "{", R"({"kind":"AdmissionReview"})",
       R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"u"}})",
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]})",
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":7}})"}) {
    const net::HttpResponse answer = AnswerAdmissionReview(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_FALSE(answer.body.empty());
  }
}

TEST(AdmissionReview, ObjectsOfOtherShapesAreAnswered) {
  for (
      const char* object :
      {"{}", "[]", R"({"metadata":[],"spec":7})", R"({"spec":{"pytorchReplicaSpecs":[]}})",
       R"({"spec":{"pytorchReplicaSpecs":{"Worker":7,"Master":{"template":[]}}}})",
       R"({"spec":{"pytorchReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[7]}}}}}})"}) {
    EXPECT_TRUE(text::GetBool(ResponseTo(Review(object)), {"allowed"}).has_value()) << object;
  }
}

// Reads the metrics when the request is answered.
class Watcher final : public net::IgnoringResponder {
 public:
  explicit Watcher(const Metrics& metrics) : metrics_(metrics) {}
  void Send(net::HttpResponse response) override {
    status = response.status;
    text = metrics_.Print({});
  }

  int status = 0;
  std::string text;

 private:
  const Metrics& metrics_;
};

TEST(AdmissionHandler, CountsReviewsAndThoseUnderWay) {
  base::FakeClock clock{base::Time()};
  Metrics metrics;
  const net::HttpHandler handler = AdmissionHandler(metrics, clock);
  const auto watcher = std::make_shared<Watcher>(metrics);
  const std::string of_path = fmt::format("webhook=\"{}\"", kAdmissionPath);
  const auto under_way = [&of_path](int count) {
    return fmt::format("\ncontroller_runtime_webhook_requests_in_flight{{{}}} {}\n", of_path,
                       count);
  };
  net::HttpRequest request;
  request.method = "POST";
  request.target = std::string(kAdmissionPath) + "?timeout=10s";
  request.body = Review(kGood);
  handler(request, watcher);
  EXPECT_EQ(watcher->status, 200);
  EXPECT_NE(watcher->text.find(under_way(1)), std::string::npos) << watcher->text;
  const std::string after = metrics.Print({});
  EXPECT_NE(after.find(under_way(0)), std::string::npos) << after;
  EXPECT_NE(
      after.find("controller_runtime_webhook_requests_total{code=\"200\"," + of_path + "} 1\n"),
      std::string::npos)
      << after;
  request.target = "/elsewhere";
  handler(request, watcher);
  EXPECT_EQ(watcher->status, 404);
  EXPECT_NE(watcher->text.find(under_way(0)), std::string::npos) << watcher->text;
}

}  // namespace
}  // namespace controller

#include "cluster/answer_error.h"

#include <gtest/gtest.h>

namespace cluster {
namespace {

using base::Code;

net::HttpRequest Request(std::string target = "/apis/kubeflow.org/v1/namespaces/n/pytorchjobs") {
  return {.method = "GET", .target = std::move(target), .headers = {}, .body = {}};
}

TEST(AnswerError, AKindThatTheClusterLacksIsNoObjectThatIsMissing) {
  for (const char* body : {"404 page not found\n",
                           R"({"kind": "Status", "reason": "NotFound", "details": {}, "code": 404,
            "message": "the server could not find the requested resource"})"}) {
    for (const char* target : {"/apis/kubeflow.org/v1/namespaces/n/pytorchjobs?limit=5",
                               "/apis/kubeflow.org/v1/namespaces/n/pytorchjobs/x/status",
                               "/apis/kubeflow.org/v1/pytorchjobs"}) {
      const base::Error error = ErrorFromAnswer(Request(target), 404, {}, body);
      EXPECT_EQ(error.code, Code::kInvalidArgument);
      EXPECT_TRUE(error.message.starts_with("the cluster knows no PyTorchJob (kubeflow.org/v1): "))
          << error.message;
      EXPECT_NE(error.message.find("`muster install`"), std::string::npos);
    }
  }
  const base::Error missing = ErrorFromAnswer(
      Request(), 404, {},
      R"({"kind": "Status", "reason": "NotFound", "message": "pytorchjobs \"x\" not found"})");
  EXPECT_EQ(missing.code, Code::kNotFound);
  EXPECT_EQ(missing.message, "pytorchjobs \"x\" not found");
  EXPECT_EQ(ErrorFromAnswer(Request("/apis/other/v9/things"), 404, {}, "404 page not found").code,
            Code::kNotFound);
}

// The path of the server's URL leads to another program, or into the API.
TEST(AnswerError, AServerThatKnowsNoNamespacesIsNoneOfKubernetes) {
  for (const char* body : {"404 page not found\n",
                           R"({"kind": "Status", "reason": "NotFound", "details": {}, "code": 404,
            "message": "the server could not find the requested resource"})"}) {
    for (const char* target : {"/api/v1/namespaces/n", "/version", "/api/v1/nodes?limit=5",
                               "/api/v1/namespaces/n/pods/x"}) {
      const base::Error error = ErrorFromAnswer(Request(target), 404, {}, body);
      EXPECT_EQ(error.code, Code::kInvalidArgument) << target;
      EXPECT_TRUE(error.message.ends_with("is the path in its URL right?")) << error.message;
    }
    // A node may say so of a container.
    EXPECT_EQ(ErrorFromAnswer(Request("/api/v1/namespaces/n/pods/x/log"), 404, {}, body).code,
              Code::kNotFound);
  }
}

TEST(AnswerError, AWebPageIsNoAnswer) {
  const base::Error by_type =
      ErrorFromAnswer(Request(), 502, {{"Content-Type", "text/html; charset=x"}}, "Bad\ngateway");
  EXPECT_EQ(by_type.code, Code::kUnavailable);
  EXPECT_TRUE(by_type.message.starts_with("a web page came back instead of an answer (HTTP 502)"));
  const base::Error by_look =
      ErrorFromAnswer(Request(), 404, {}, "<!DOCTYPE html><TITLE>Log\nin</TITLE>");
  EXPECT_EQ(by_look.code, Code::kUnavailable);
  EXPECT_NE(by_look.message.find("(HTTP 404, \"Log in\")"), std::string::npos) << by_look.message;
  const base::Error success = ErrorFromGarbage(Request(), {}, "<html>", "why");
  EXPECT_TRUE(success.message.starts_with("a web page came back instead of an answer (HTTP 200)"));
}

TEST(AnswerError, ARedirectNamesWhereTo) {
  const base::Error error =
      ErrorFromAnswer(Request(), 302, {{"location", "https://login/\x1b[2J"}}, "");
  EXPECT_TRUE(error.message.starts_with("the answer is a redirect to https://login/ (HTTP 302)"))
      << error.message;
}

TEST(AnswerError, WhatOthersWriteIsOneLineOfSomeLength) {
  const base::Error error = ErrorFromAnswer(
      Request(), 500, {}, std::string(100, '\n') + "a" + std::string(1 << 20, '\n'));
  EXPECT_EQ(error.message, "a");
  const base::Error status = ErrorFromAnswer(
      Request(), 500, {}, R"({"kind": "Status", "message": ")" + std::string(1 << 20, 'x') + "\"}");
  EXPECT_LT(status.message.size(), 2100U);
}

TEST(AnswerError, TooManyRequestsSaysWhenToTryAgain) {
  const base::Error error =
      ErrorFromAnswer(Request(), 429, {{"Retry-After", "7"}},
                      R"({"kind": "Status", "reason": "TooManyRequests", "message": "not now"})");
  EXPECT_EQ(error.code, Code::kExhausted);
  EXPECT_EQ(error.message, "the server has too much to do (HTTP 429): try again in 7 s: not now");
  const base::Error dated =
      ErrorFromAnswer(Request(), 429, {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}},
                      R"({"kind": "Status", "reason": "TooManyRequests", "message": "not now"})");
  EXPECT_EQ(dated.message, "the server has too much to do (HTTP 429): try again later: not now");
}

TEST(AnswerError, GarbageNamesTheRequestWithoutItsQuery) {
  EXPECT_EQ(ErrorFromGarbage(Request("/api/v1/pods?x=y"), {}, "{", "incomplete").message,
            "GET /api/v1/pods: the answer is not JSON: incomplete");
}

struct StatusCase {
  int http;
  const char* reason;
  Code code;
};

TEST(ErrorFromStatus, TakesTheReasonThenTheHttpStatus) {
  const StatusCase cases[] = {
      {404, "NotFound", Code::kNotFound},
      {409, "AlreadyExists", Code::kAlreadyExists},
      {409, "Conflict", Code::kConflict},
      {422, "Invalid", Code::kInvalidArgument},
      {400, "BadRequest", Code::kInvalidArgument},
      {403, "Forbidden", Code::kPermissionDenied},
      {410, "Expired", Code::kExpired},
      {410, "Gone", Code::kExpired},
      {401, "Unauthorized", Code::kUnauthenticated},
      {504, "Timeout", Code::kTimeout},
      {500, "ServerTimeout", Code::kTimeout},
      {429, "TooManyRequests", Code::kExhausted},
      {503, "ServiceUnavailable", Code::kUnavailable},
      {500, "InternalError", Code::kInternal},
      {409, "", Code::kConflict},
      {507, "SomethingNew", Code::kExhausted},
      {418, "", Code::kInternal},
  };
  for (const auto& [http, reason, code] : cases) {
    const std::string body =
        std::string(R"({"kind":"Status","message":"why","reason":")") + reason + "\"}";
    const base::Error error = ErrorFromStatus(http, body);
    EXPECT_EQ(error.code, code) << http << " " << reason;
    EXPECT_EQ(error.message, "why");
  }
}

TEST(ErrorFromStatus, QuotesABodyThatIsNoStatus) {
  EXPECT_EQ(ErrorFromStatus(502, " bad gateway\n").message, "bad gateway");
  EXPECT_EQ(ErrorFromStatus(502, "").message, "the server answered with HTTP status 502");
  EXPECT_EQ(ErrorFromStatus(500, std::string(10'000, 'x')).message.size(), 512U);
  EXPECT_EQ(ErrorFromStatus(404, R"({"kind":"Status","reason":"NotFound"})").message, "NotFound");
}

}  // namespace
}  // namespace cluster

#include "launch/progress/post_answer.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace launch {
namespace {

constexpr std::string_view kToken = "secret";

net::MessageParser::Message Post(std::string_view body, std::string_view token = kToken) {
  net::MessageParser::Message request;
  request.method = "POST";
  request.target = api::StatusUrl("", kPostedNamespace, kPostedJob);
  request.headers = {{"authorization", "Bearer " + std::string(token)}};
  request.body = body;
  return request;
}

std::string FirstLine(const PostAnswer& answer) { return base::Split(answer.bytes, '\r')[0]; }

TEST(AnswerPost, ReportsWhatWasPostedAndEndsTheConnection) {
  const PostAnswer answer = AnswerPost(
      Post(R"({"trainerStatus": {"progressPercentage": 5, "lastUpdatedTime": "2026-11-24T10:00:00Z",
           "metrics": [{"name": "current_step", "value": "7"}]}})"),
      kToken);
  EXPECT_EQ(FirstLine(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.bytes.find("Connection: close\r\n"), std::string::npos) << answer.bytes;
  EXPECT_TRUE(answer.bytes.ends_with("}\n"));
  ASSERT_TRUE(answer.post);
  EXPECT_EQ(answer.post->percent, 5);
  EXPECT_EQ(answer.post->progress.step, 7);
}

TEST(AnswerPost, RefusesAsKubeflowTrainerDoes) {
  EXPECT_EQ(FirstLine(AnswerPost(Post("{}", "other"), kToken)), "HTTP/1.1 403 Forbidden");
  EXPECT_EQ(FirstLine(AnswerPost(Post("{}", ""), kToken)), "HTTP/1.1 403 Forbidden");
  const PostAnswer invalid = AnswerPost(Post("{}{}"), kToken);
  EXPECT_TRUE(FirstLine(invalid).starts_with("HTTP/1.1 422 "));
  EXPECT_NE(invalid.bytes.find("\"message\":\"Invalid payload\""), std::string::npos);
  EXPECT_FALSE(invalid.post);
  net::MessageParser::Message request = Post("{}");
  request.method = "GET";
  EXPECT_EQ(FirstLine(AnswerPost(request, kToken)), "HTTP/1.1 404 Not Found");
  request = Post("{}");
  request.target = api::StatusUrl("", kPostedNamespace, "another");
  EXPECT_EQ(FirstLine(AnswerPost(request, kToken)), "HTTP/1.1 404 Not Found");
}

}  // namespace
}  // namespace launch

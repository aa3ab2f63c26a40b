#include "dashboard/answer.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

net::HttpRequest Get(net::Headers headers) {
  return {.method = "GET", .target = "/", .headers = std::move(headers), .body = ""};
}

TEST(AnswerTest, NothingIsKeptSniffedOrFramed) {
  for (const net::HttpResponse& answer :
       {JsonAnswer(text::Object{}), ErrorAnswer({base::Code::kNotFound, "no", 0})}) {
    EXPECT_EQ(net::FindHeader(answer.headers, "Cache-Control"), "no-store");
    EXPECT_EQ(net::FindHeader(answer.headers, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(net::FindHeader(answer.headers, "X-Frame-Options"), "DENY");
    EXPECT_EQ(net::FindHeader(answer.headers, "Referrer-Policy"), "no-referrer");
  }
}

TEST(AnswerTest, ThePolicyAllowsNoScriptButTheServersAndNothingFromElsewhere) {
  const net::HttpResponse page =
      AssetAnswer(Get({{"Accept-Encoding", "gzip"}}), {"/", "text/html", "z", "1", "abc"});
  const std::string_view policy = net::FindHeader(page.headers, "Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'; script-src 'self'; style-src 'sha256-YWJj';"),
            std::string_view::npos);
  for (const char* loose : {"unsafe", "http", "*", "data:", "blob:"}) {
    EXPECT_EQ(policy.find(loose), std::string_view::npos) << loose;
  }
}

TEST(AnswerTest, AnAnswerWithoutAStyleSheetPermitsNone) {
  const net::HttpResponse data = JsonAnswer(text::Object{});
  EXPECT_NE(net::FindHeader(data.headers, "Content-Security-Policy").find("style-src 'none'"),
            std::string_view::npos);
}

TEST(AnswerTest, ErrorsHaveTheirStatusAndTheirWords) {
  const net::HttpResponse answer =
      ErrorAnswer({base::Code::kUnauthenticated, "who \"are\" you", 0});
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body, R"({"error":"who \"are\" you","code":"Unauthenticated"})");
  EXPECT_EQ(ErrorAnswer({base::Code::kUnavailable, "", 0}).status, 503);
}

TEST(AnswerTest, AnAssetThatTheBrowserHasIsNotSentAgain) {
  const Asset asset{"/app.js", "text/javascript", "zz", "ab", ""};
  const net::HttpResponse first = AssetAnswer(Get({{"Accept-Encoding", "gzip, br"}}), asset);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "zz");
  EXPECT_EQ(net::FindHeader(first.headers, "Content-Encoding"), "gzip");
  const net::HttpResponse second =
      AssetAnswer(Get({{"Accept-Encoding", "gzip"}, {"If-None-Match", "\"ab\""}}), asset);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  EXPECT_EQ(AssetAnswer(Get({}), asset).status, 406);
}

}  // namespace
}  // namespace dashboard

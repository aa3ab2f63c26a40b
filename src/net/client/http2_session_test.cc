#include "net/client/http2_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "net/testing/http2_peer.h"

namespace net {
namespace {

using std::chrono::seconds;

const Http2Session::Time kSessionStart{seconds(1000)};

HttpRequest PostBody(std::string body = "{}") {
  return {.method = "POST",
          .target = "/pods?x=y",
          .headers = {{"Content-Type", "t"}, {"Authorization", "Bearer s"}},
          .body = std::move(body)};
}

// A session and its server, with nothing between them.
class Http2 : public testing::Test {
 protected:
  void Serve(const std::vector<nghttp2_settings_entry>& settings) {
    peer_ = std::make_unique<Http2Peer>(settings);
  }
  void SetUp() override {
    Serve({});
    session_ = *Http2Session::Open("h:1", "/base");
  }
  int32_t Send(const HttpRequest& request, Http2Session::Time now = kSessionStart) {
    const auto stream = session_->Send(request, now);
    EXPECT_TRUE(stream) << stream.error().message;
    return stream.value_or(0);
  }
  // Until neither has anything to say.
  void Talk(Http2Session::Time now = kSessionStart) {
    while (true) {
      std::string out;
      EXPECT_TRUE(session_->TakeOutput(out, 1 << 20));
      sent_ += out.size();
      if (!out.empty()) peer_->Feed(out);
      const std::string in = peer_->TakeOutput();
      EXPECT_TRUE(session_->Receive(in, now));
      if (out.empty() && in.empty()) return;
    }
  }
  Http2End OnlyEnd() {
    auto ends = session_->TakeEnds();
    EXPECT_EQ(ends.size(), 1U);
    return ends.empty() ? Http2End() : std::move(ends.front());
  }

  std::unique_ptr<Http2Peer> peer_;
  std::unique_ptr<Http2Session> session_;
  uint64_t sent_ = 0;
};

TEST_F(Http2, SaysARequestAndHearsTheAnswer) {
  const HttpRequest request = PostBody("body");
  const int32_t stream = Send(request);
  Talk();
  const auto seen = peer_->TakeWhole();
  ASSERT_EQ(seen.size(), 1U);
  const Headers expected = {{":method", "POST"},    {":scheme", "https"},
                            {":authority", "h:1"},  {":path", "/base/pods?x=y"},
                            {"content-type", "t"},  {"authorization", "Bearer s"},
                            {"content-length", "4"}};
  EXPECT_EQ(seen[0].fields, expected);
  EXPECT_EQ(seen[0].body, "body");
  peer_->Inform(stream, 103);
  peer_->Answer(stream, 429, {{"retry-after", "3"}}, "busy");
  Talk();
  const Http2End end = OnlyEnd();
  EXPECT_EQ(end.stream, stream);
  EXPECT_EQ(end.kind, Http2End::Kind::kAnswered);
  EXPECT_EQ(end.response.status, 429);
  EXPECT_EQ(end.response.headers, (Headers{{"retry-after", "3"}}));
  EXPECT_EQ(end.response.body, "busy");
  EXPECT_EQ(session_->under_way(), 0U);
  EXPECT_FALSE(session_->IsClosing());
}

TEST_F(Http2, AnswersComeInAnyOrder) {
  const HttpRequest request = PostBody();
  const int32_t first = Send(request);
  const int32_t second = Send(request);
  Talk();
  peer_->Answer(second, 201, {}, "2");
  Talk();
  EXPECT_EQ(OnlyEnd().stream, second);
  peer_->Answer(first, 201, {}, "1");
  Talk();
  EXPECT_EQ(OnlyEnd().response.body, "1");
}

TEST_F(Http2, KeepsToTheServersWindow) {
  Serve({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 3}});
  const HttpRequest before = PostBody("x");
  Send(before);
  Talk();
  const HttpRequest request = PostBody(std::string(10'000, 'x'));
  const int32_t stream = Send(request);
  Talk();
  const auto seen = peer_->TakeWhole();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].body, request.body);
  peer_->Answer(stream, 200, {}, std::string(5 << 20, 'y'));
  Talk();
  EXPECT_EQ(OnlyEnd().response.body.size(), 5U << 20);
}

TEST_F(Http2, HasNoMoreUnderWayThanTheServerPermits) {
  Serve({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}});
  Talk();
  EXPECT_TRUE(session_->HasRoom());
  const HttpRequest request = PostBody();
  const int32_t stream = Send(request);
  EXPECT_FALSE(session_->HasRoom());
  Talk();
  peer_->Answer(stream, 200, {}, "");
  Talk();
  EXPECT_TRUE(session_->HasRoom());
}

TEST_F(Http2, AnAnswerBeforeTheBodyWasReadIsWhole) {
  Serve({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
  Talk();
  const HttpRequest request = PostBody();
  const int32_t stream = Send(request);
  Talk();
  EXPECT_EQ(peer_->TakeHeads(), std::vector<int32_t>{stream});
  peer_->Answer(stream, 403, {}, "no");
  Talk();
  const Http2End end = OnlyEnd();
  EXPECT_EQ(end.kind, Http2End::Kind::kAnswered);
  EXPECT_EQ(end.response.body, "no");
  EXPECT_TRUE(session_->HasRoom());
  EXPECT_FALSE(session_->IsClosing());
}

TEST_F(Http2, WhatWasRefusedWasNotProcessed) {
  const HttpRequest request = PostBody();
  const int32_t stream = Send(request);
  Talk();
  peer_->Reset(stream, NGHTTP2_REFUSED_STREAM);
  Talk();
  EXPECT_EQ(OnlyEnd().kind, Http2End::Kind::kUnprocessed);
}

TEST_F(Http2, AResetBreaksARequestUnlessAnErrorWasAnswered) {
  const HttpRequest request = PostBody();
  const int32_t bare = Send(request);
  const int32_t good = Send(request);
  const int32_t bad = Send(request);
  Talk();
  peer_->Reset(bare, NGHTTP2_INTERNAL_ERROR);
  Talk();
  const Http2End broken = OnlyEnd();
  EXPECT_EQ(broken.kind, Http2End::Kind::kBroken);
  EXPECT_NE(broken.detail.find("INTERNAL_ERROR"), std::string::npos) << broken.detail;
  peer_->Answer(good, 200, {}, "begun", false);
  peer_->Answer(bad, 503, {}, "begun", false);
  Talk();
  peer_->Reset(good, NGHTTP2_INTERNAL_ERROR);
  Talk();
  EXPECT_EQ(OnlyEnd().kind, Http2End::Kind::kBroken);
  peer_->Reset(bad, NGHTTP2_INTERNAL_ERROR);
  Talk();
  const Http2End answered = OnlyEnd();
  EXPECT_EQ(answered.kind, Http2End::Kind::kAnswered);
  EXPECT_EQ(answered.response.status, 503);
}

TEST_F(Http2, AServerThatGoesAwayProcessesWhatItSays) {
  const HttpRequest request = PostBody();
  const int32_t first = Send(request);
  const int32_t second = Send(request);
  Talk();
  peer_->GoAway(first);
  Talk();
  const Http2End end = OnlyEnd();
  EXPECT_EQ(end.stream, second);
  EXPECT_EQ(end.kind, Http2End::Kind::kUnprocessed);
  EXPECT_TRUE(session_->IsClosing());
  EXPECT_FALSE(session_->IsOver());
  peer_->Answer(first, 200, {}, "");
  Talk();
  EXPECT_EQ(OnlyEnd().kind, Http2End::Kind::kAnswered);
  EXPECT_TRUE(session_->IsOver());
}

TEST_F(Http2, OfABrokenConnectionOnlyWhatNeverLeftWasNotProcessed) {
  Talk();
  const HttpRequest request = PostBody();
  const int32_t gone = Send(request);
  Talk();
  const int32_t kept = Send(request);
  std::string output;
  ASSERT_TRUE(session_->TakeOutput(output, 1 << 20));
  const int32_t queued = Send(request);
  session_->Break(sent_);
  auto ends = session_->TakeEnds();
  ASSERT_EQ(ends.size(), 3U);
  for (const Http2End& end : ends) {
    EXPECT_TRUE(end.stream == gone || end.stream == kept || end.stream == queued);
    EXPECT_EQ(end.kind, end.stream == gone ? Http2End::Kind::kBroken : Http2End::Kind::kUnprocessed)
        << end.stream;
  }
}

TEST_F(Http2, OneByteOfARequestMayHaveBeenEnough) {
  Talk();
  const HttpRequest request = PostBody();
  Send(request);
  std::string output;
  ASSERT_TRUE(session_->TakeOutput(output, 1 << 20));
  session_->Break(sent_ + 1);
  EXPECT_EQ(OnlyEnd().kind, Http2End::Kind::kBroken);
}

TEST_F(Http2, SilenceIsOfEachRequest) {
  const HttpRequest request = PostBody();
  const int32_t silent = Send(request, kSessionStart);
  const int32_t talking = Send(request, kSessionStart);
  EXPECT_EQ(session_->SilentSince(kSessionStart + seconds(5)), kSessionStart);
  Talk();
  peer_->Answer(talking, 200, {}, "begun", false);
  Talk(kSessionStart + seconds(10));
  session_->Expire(kSessionStart + seconds(9));
  const Http2End end = OnlyEnd();
  EXPECT_EQ(end.stream, silent);
  EXPECT_EQ(end.kind, Http2End::Kind::kSilent);
  EXPECT_EQ(session_->SilentSince(kSessionStart + seconds(20)), kSessionStart + seconds(10));
  peer_->Answer(silent, 200, {}, "late");
  Talk();
  EXPECT_TRUE(session_->TakeEnds().empty());
}

TEST_F(Http2, HeadersHaveALimit) {
  const HttpRequest request = PostBody();
  const int32_t stream = Send(request);
  Talk();
  Headers many;
  for (int i = 0; i < 70; ++i) many.emplace_back("h" + std::to_string(i), std::string(1000, 'v'));
  peer_->Answer(stream, 200, many, "");
  Talk();
  const Http2End end = OnlyEnd();
  EXPECT_EQ(end.kind, Http2End::Kind::kTooLarge);
  EXPECT_EQ(end.detail, "the answer's headers are too large");
}

TEST_F(Http2, AnswersPings) {
  peer_->Ping();
  Talk();
  EXPECT_FALSE(session_->IsClosing());
}

TEST_F(Http2, NonsenseEndsTheConnection) {
  const HttpRequest request = PostBody();
  Send(request);
  std::string output;
  ASSERT_TRUE(session_->TakeOutput(output, 1 << 20));
  const auto taken = session_->Receive("HTTP/1.1 400 Bad Request\r\n\r\n", kSessionStart);
  output.clear();
  const auto given = session_->TakeOutput(output, 1 << 20);
  EXPECT_TRUE(!taken || !given || session_->IsOver());
}

TEST(IsForHttp2, WhatBelongsToAConnectionIsNot) {
  EXPECT_TRUE(IsForHttp2(PostBody()));
  const auto with = [](std::string name, std::string value) {
    HttpRequest request = PostBody();
    request.headers.emplace_back(std::move(name), std::move(value));
    return request;
  };
  EXPECT_TRUE(IsForHttp2(with("X-Empty", "")));
  for (const char* name :
       {"Connection", "host", "Upgrade", "TE", "Content-Length", ":path", "a b", "", "a:b"}) {
    EXPECT_FALSE(IsForHttp2(with(name, "x"))) << name;
  }
  EXPECT_FALSE(IsForHttp2(with("X-A", "a\r\nb: c")));
  EXPECT_FALSE(IsForHttp2(with("X-A", " padded")));
  HttpRequest request = PostBody();
  request.target = "/a b";
  EXPECT_FALSE(IsForHttp2(request));
}

}  // namespace
}  // namespace net

#include "net/client/http2_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "net/socket/error_words.h"
#include "net/socket/url.h"
#include "net/testing/http2_test_server.h"

namespace net {
namespace {

using base::Code;
using PeersRequest = Http2Peer::Request;
using std::chrono::milliseconds;

constexpr milliseconds kLanePatience{60'000};

HttpRequest PostTo(std::string target = "/x") {
  return {.method = "POST", .target = std::move(target), .headers = {}, .body = "{}"};
}

std::string TargetOf(const PeersRequest& request) {
  return std::string(FindHeader(request.fields, ":path"));
}

bool AnswerTarget(Http2Peer& peer, const PeersRequest& request, int) {
  peer.Answer(request.stream, 201, {{"a", "b"}}, TargetOf(request));
  return true;
}

std::unique_ptr<Http2Lane> OpenLane(std::function<ConnectedSocket(int)> connect,
                                    milliseconds idle = kLanePatience) {
  Http2Lane::Options options;
  options.authority = "server:1";
  options.connect = std::move(connect);
  options.explain = [](const CurlFailure& failure) {
    return ErrorFromCurl(failure, *ParseUrl("https://server:1"), "");
  };
  options.idle_timeout = idle;
  return *Http2Lane::Start(std::move(options));
}

std::unique_ptr<Http2Lane> LaneTo(const Http2TestServer& server,
                                  milliseconds idle = kLanePatience) {
  return OpenLane(
      [port = server.port()](int cancel) -> ConnectedSocket {
        TRY_ASSIGN(base::Fd fd, ConnectToTcp("127.0.0.1", port, kLanePatience, cancel));
        return PlainSocket(std::move(fd));
      },
      idle);
}

std::vector<Http2Lane::Answer> SendAll(Http2Lane& lane, const std::vector<HttpRequest>& requests) {
  std::vector<const HttpRequest*> sent;
  for (const HttpRequest& request : requests) sent.push_back(&request);
  return lane.SendAll(sent);
}

Http2Lane::Answer Send(Http2Lane& lane, const HttpRequest& request) {
  const HttpRequest* const sent = &request;
  return std::move(lane.SendAll(std::span(&sent, 1)).front());
}

// The body of the answer, or the error's code.
std::string Outcome(const Http2Lane::Answer& answer) {
  if (!answer) return "another way";
  return *answer ? (*answer)->body : std::string(base::CodeName((*answer).error().code));
}

TEST(Http2Lane, ManyRequestsGoByOneConnection) {
  Http2TestServer server(AnswerTarget);
  const auto lane = LaneTo(server);
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 600; ++i) requests.push_back(PostTo("/" + std::to_string(i)));
  const auto answers = SendAll(*lane, requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(Outcome(answers[i]), requests[i].target);
  EXPECT_EQ((*answers[0])->status, 201);
  EXPECT_EQ(FindHeader((*answers[0])->headers, "A"), "b");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_TRUE(SendAll(*lane, {}).empty());
}

TEST(Http2Lane, KeepsToWhatTheServerPermits) {
  Http2TestServer::Options options;
  options.settings = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1},
                      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1}};
  Http2TestServer server(options, AnswerTarget);
  const auto lane = LaneTo(server);
  for (const auto& answer : SendAll(*lane, std::vector<HttpRequest>(40, PostTo()))) {
    EXPECT_EQ(Outcome(answer), "/x");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Lane, SendsFromManyThreads) {
  Http2TestServer server(AnswerTarget);
  const auto lane = LaneTo(server);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, target = "/" + std::to_string(i)] {
      for (int k = 0; k < 30; ++k) EXPECT_EQ(Outcome(Send(*lane, PostTo(target))), target);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Lane, WhatIsRefusedIsSentOnceMore) {
  std::atomic<int> seen = 0;
  Http2TestServer server([&](Http2Peer& peer, const PeersRequest& request, int) {
    if (TargetOf(request) == "/never" || seen++ == 0) {
      peer.Reset(request.stream, NGHTTP2_REFUSED_STREAM);
    } else {
      AnswerTarget(peer, request, 0);
    }
    return true;
  });
  const auto lane = LaneTo(server);
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "/x");
  const auto never = Send(*lane, PostTo("/never"));
  EXPECT_EQ(Outcome(never), "Unavailable");
  EXPECT_EQ(never->error().message,
            "the connection to server:1 broke: the server refused the request");
}

TEST(Http2Lane, AServerThatGoesAwayLosesNothing) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int connection) {
    if (connection > 0) return AnswerTarget(peer, request, connection);
    // The first alone is answered, after the others were let go.
    if (request.stream == 1) {
      peer.GoAway(1);
      AnswerTarget(peer, request, connection);
    }
    return true;
  });
  const auto lane = LaneTo(server);
  for (const auto& answer : SendAll(*lane, std::vector<HttpRequest>(20, PostTo()))) {
    EXPECT_EQ(Outcome(answer), "/x");
  }
  EXPECT_EQ(server.connections(), 2);
  server.AwaitClosed(1);
}

TEST(Http2Lane, ABrokenConnectionIsAnErrorOfWhatWasOnIt) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int connection) {
    return connection > 0 && AnswerTarget(peer, request, connection);
  });
  const auto lane = LaneTo(server);
  const auto broken = Send(*lane, PostTo());
  EXPECT_EQ(Outcome(broken), "Unavailable");
  EXPECT_TRUE(broken->error().message.starts_with("the connection to server:1 broke: "))
      << broken->error().message;
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "/x");
}

TEST(Http2Lane, AResetIsAnErrorOfOneRequest) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int) {
    if (TargetOf(request) == "/x") return AnswerTarget(peer, request, 0);
    peer.Reset(request.stream, NGHTTP2_INTERNAL_ERROR);
    return true;
  });
  const auto lane = LaneTo(server);
  const auto answers = SendAll(*lane, {PostTo(), PostTo("/bad"), PostTo()});
  EXPECT_EQ(Outcome(answers[0]), "/x");
  EXPECT_EQ(Outcome(answers[1]), "Unavailable");
  EXPECT_EQ(Outcome(answers[2]), "/x");
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Lane, AServerThatBreaksTheProtocolIsLeft) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int connection) {
    if (connection > 0) return AnswerTarget(peer, request, connection);
    peer.Say(std::string("\0\0\1\0\0\0\0\0\0x", 10));  // DATA of stream 0
    return true;
  });
  const auto lane = LaneTo(server);
  for (const auto& answer : SendAll(*lane, {PostTo(), PostTo()})) {
    ASSERT_EQ(Outcome(answer), "Unavailable");
    EXPECT_EQ(answer->error().message,
              "the connection to server:1 broke: the server's answer is not HTTP/2");
  }
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "/x");
}

TEST(Http2Lane, AConnectionClosedWhileIdleIsNoError) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int connection) {
    AnswerTarget(peer, request, connection);
    return connection > 0;
  });
  const auto lane = LaneTo(server);
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "/x");
  server.AwaitClosed(1);  // by the lane, too
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "/x");
  EXPECT_EQ(server.connections(), 2);
}

TEST(Http2Lane, AServerThatHangsIsGivenUp) {
  Http2TestServer server([](Http2Peer& peer, const PeersRequest& request, int connection) {
    return connection == 0 || AnswerTarget(peer, request, connection);
  });
  const auto lane = LaneTo(server, milliseconds(300));
  const auto answer = Send(*lane, PostTo());
  EXPECT_EQ(Outcome(answer), "Timeout");
  EXPECT_EQ(answer->error().message,
            "server:1 took the connection and then did not answer in time");
}

TEST(Http2Lane, ARequestThatIsNeverLetInIsGivenUp) {
  Http2TestServer::Options options;
  options.settings = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}};
  Http2TestServer server(options, [](Http2Peer&, const PeersRequest&, int) { return true; });
  const auto lane = LaneTo(server, milliseconds(300));
  for (const auto& answer : SendAll(*lane, {PostTo(), PostTo(), PostTo()})) {
    EXPECT_EQ(Outcome(answer), "Timeout");
  }
}

TEST(Http2Lane, NobodyThereIsAnError) {
  const auto lane = OpenLane(
      [](int) -> ConnectedSocket { return base::Fail(Code::kUnavailable, "nothing listens"); });
  for (const auto& answer : SendAll(*lane, {PostTo(), PostTo()})) {
    ASSERT_EQ(Outcome(answer), "Unavailable");
    EXPECT_EQ(answer->error().message, "nothing listens");
  }
}

TEST(Http2Lane, WhatCannotGoThisWayIsNotTriedForAWhile) {
  std::atomic<int> tries = 0;
  const auto lane = OpenLane([&](int) -> ConnectedSocket {
    ++tries;
    return base::Fail(Code::kNotFound, "no HTTP/2");
  });
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "another way");
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "another way");
  EXPECT_EQ(tries, 1);
  lane->Renew();
  EXPECT_EQ(Outcome(Send(*lane, PostTo())), "another way");
  EXPECT_EQ(tries, 2);
}

TEST(Http2Lane, ARenewedLaneEndsWhatItHasBegun) {
  std::promise<void> may_answer;
  std::shared_future<void> allowed = may_answer.get_future().share();
  Http2TestServer server([&](Http2Peer& peer, const PeersRequest& request, int connection) {
    if (connection == 0) allowed.wait();
    return AnswerTarget(peer, request, connection);
  });
  const auto lane = LaneTo(server);
  auto first = std::async(std::launch::async, [&] { return Outcome(Send(*lane, PostTo("/1"))); });
  while (server.connections() == 0) std::this_thread::yield();
  lane->Renew();
  EXPECT_EQ(Outcome(Send(*lane, PostTo("/2"))), "/2");
  may_answer.set_value();
  EXPECT_EQ(first.get(), "/1");
  EXPECT_EQ(server.connections(), 2);
  server.AwaitClosed(1);
}

TEST(Http2Lane, EndsWithRequestsUnderWay) {
  Http2TestServer server([](Http2Peer&, const PeersRequest&, int) { return true; });
  auto lane = LaneTo(server);
  auto answers = std::async(std::launch::async, [lane = lane.get()] {
    return SendAll(*lane, std::vector<HttpRequest>(300, PostTo()));
  });
  server.AwaitRequests(1);
  lane.reset();
  for (const auto& answer : answers.get()) EXPECT_EQ(Outcome(answer), "Cancelled");
  server.AwaitClosed(1);
}

TEST(Http2Lane, EndsWhileItConnects) {
  std::promise<void> connecting;
  auto lane = OpenLane([&](int cancel) -> ConnectedSocket {
    connecting.set_value();
    TRY(AwaitSocket(cancel, POLLIN, std::nullopt));
    return base::Fail(Code::kCancelled, "cancelled");
  });
  auto answer = std::async(std::launch::async,
                           [lane = lane.get()] { return Outcome(Send(*lane, PostTo())); });
  connecting.get_future().wait();
  lane.reset();
  EXPECT_EQ(answer.get(), "Cancelled");
}

}  // namespace
}  // namespace net

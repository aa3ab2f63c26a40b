#include "ads/oci/api.h"

#include <gtest/gtest.h>

#include <thread>

#include "ads/oci/testing/fake_client.h"

namespace ads::oci {
namespace {

ApiRequest CreateRun() {
  return {.operation = "create_job_run",
          .method = "POST",
          .target = "/20190101/jobRuns",
          .body = "{}",
          .is_create = true};
}

std::string HeaderOf(const net::HttpRequest& request, std::string_view name) {
  return std::string(net::FindHeader(request.headers, name));
}

TEST(Api, RepeatsACreationWithOneRetryTokenAndANewSignature) {
  int count = 0;
  FakeService service([&](const net::HttpRequest&) -> base::Result<net::HttpResponse> {
    ++count;
    if (count == 1) return Answer(500, R"({"code":"InternalError","message":"x"})");
    if (count == 2) return base::Fail(base::Code::kUnavailable, "the connection broke");
    if (count == 3) return Answer(429, "", {{"retry-after", "7"}});
    return Answer(200, R"({"id":"r"})");
  });
  const auto made = service.api.Ask(CreateRun());
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(service.requests.size(), 4U);
  const std::string token = HeaderOf(service.requests[0], "opc-retry-token");
  EXPECT_EQ(token.size(), 30U);
  for (const net::HttpRequest& request : service.requests) {
    EXPECT_EQ(HeaderOf(request, "opc-retry-token"), token);
    EXPECT_EQ(HeaderOf(request, "opc-request-id").size(), 32U);
    EXPECT_EQ(HeaderOf(request, "host"), "host");
  }
  EXPECT_NE(HeaderOf(service.requests[0], "date"), HeaderOf(service.requests[3], "date"));
  EXPECT_NE(HeaderOf(service.requests[0], "authorization"),
            HeaderOf(service.requests[3], "authorization"));
  ASSERT_EQ(service.pauses.size(), 3U);
  EXPECT_EQ(service.pauses[2], std::chrono::seconds(7));
}

TEST(Api, GivesUpInOneLine) {
  FakeService service([](const net::HttpRequest&) {
    return Answer(404,
                  R"({"code":"NotAuthorizedOrNotFound","message":"Authorization failed or\nno"})",
                  {{"opc-request-id", "REQ"}});
  });
  const auto got = service.api.Ask({.operation = "get_job_run", .method = "GET", .target = "/x"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::kNotFound);
  EXPECT_EQ(got.error().message,
            "ServiceError: 404 NotAuthorizedOrNotFound: Authorization failed or no (get_job_run of "
            "data_science, opc-request-id REQ)");
  EXPECT_EQ(service.requests.size(), 1U);
}

TEST(Api, StopsAfterEightTries) {
  FakeService service([](const net::HttpRequest&) { return Answer(503); });
  EXPECT_EQ(service.api.Send(CreateRun()).error().code, base::Code::kUnavailable);
  EXPECT_EQ(service.requests.size(), static_cast<size_t>(kMaxTries));
  for (const base::Duration pause : service.pauses) EXPECT_LE(pause, kLongestPause);
}

TEST(Api, SaysThatTheClockIsOff) {
  FakeService service([](const net::HttpRequest&) {
    return Answer(401, R"({"code":"NotAuthenticated","message":"no"})",
                  {{"Date", "Wed, 18 May 2033 03:43:20 GMT"}});  // ten minutes later
  });
  EXPECT_EQ(service.api.Send(CreateRun()).error().message,
            "ServiceError: 401 NotAuthenticated: no (create_job_run of data_science): this "
            "machine's clock is 600 s behind the service's, which allows 300 s: set it "
            "(timedatectl set-ntp true)");
}

TEST(Api, TriesARenewedPrincipalOnceAfterA401) {
  FakeService service([](const net::HttpRequest& request) {
    const bool is_new =
        HeaderOf(request, "authorization").find("keyId=\"new\"") != std::string::npos;
    return is_new ? Answer(200, "{}") : Answer(401, R"({"code":"NotAuthenticated"})");
  });
  ASSERT_FALSE(service.api.Send(CreateRun()));
  EXPECT_EQ(service.requests.size(), 1U);
  service.key_id = "new";
  EXPECT_TRUE(service.api.Send(CreateRun()));
  EXPECT_EQ(service.requests.size(), 3U);
}

TEST(Api, FollowsPages) {
  FakeService service([](const net::HttpRequest& request) {
    if (request.target == "/runs?a=b") return Answer(200, "[1,2]", {{"opc-next-page", "p/2"}});
    if (request.target == "/runs?a=b&page=p%2F2") return Answer(200, R"({"items":[3]})");
    return Answer(400);
  });
  const auto items =
      service.api.List({.operation = "list", .method = "GET", .target = "/runs?a=b"});
  ASSERT_TRUE(items) << items.error().message;
  EXPECT_EQ(text::ToJson(*items), "[1,2,3]");
}

TEST(PauseAfter, ARequestThatMaySucceedLater) {
  const base::Duration none{};
  EXPECT_TRUE(PauseAfter(Answer(409, R"({"code":"IncorrectState"})"), 1, 0, none));
  EXPECT_FALSE(PauseAfter(Answer(409, R"({"code":"InvalidParameter"})"), 1, 0, none));
  EXPECT_FALSE(PauseAfter(Answer(501), 1, 0, none));
  EXPECT_FALSE(PauseAfter(Answer(400), 1, 0, none));
  EXPECT_FALSE(PauseAfter(Answer(500), 1, 0, kLongestRetrying));
  EXPECT_EQ(PauseAfter(Answer(500), 1, 0, none), std::chrono::milliseconds(500));
  EXPECT_EQ(PauseAfter(Answer(500), 7, 1, none), kLongestPause);
  const base::Error broke{base::Code::kUnavailable, "", 0};
  EXPECT_TRUE(PauseAfter(broke, 3, 0, none));
  EXPECT_FALSE(PauseAfter(broke, 4, 0, none));
  EXPECT_FALSE(PauseAfter({base::Code::kInvalidArgument, "", 0}, 1, 0, none));
}

TEST(PauseAfter, IsAtLeastWhatTheServiceAsksFor) {
  const auto pause = [](net::Headers headers, base::Duration elapsed = {}) {
    return PauseAfter(Answer(429, "", std::move(headers)), 1, 0, elapsed);
  };
  EXPECT_EQ(pause({{"retry-after", "120"}}), std::chrono::seconds(120));
  EXPECT_EQ(pause({{"Retry-After", "Wed, 18 May 2033 03:43:20 GMT"},
                   {"Date", "Wed, 18 May 2033 03:42:20 GMT"}}),
            std::chrono::seconds(60));
  // Not at once, even though a date in the past asks for no wait.
  EXPECT_EQ(pause({{"retry-after", "0"}}), std::chrono::milliseconds(500));
  EXPECT_EQ(pause({{"retry-after", "Wed, 18 May 2033 03:42:20 GMT"},
                   {"date", "Wed, 18 May 2033 03:43:20 GMT"}}),
            std::chrono::milliseconds(500));
  EXPECT_EQ(pause({{"retry-after", "soon"}}), std::chrono::milliseconds(500));
  EXPECT_EQ(pause({{"retry-after", "120"}}, std::chrono::seconds(500)), std::nullopt);
  EXPECT_EQ(pause({{"retry-after", "86400"}}), std::nullopt);
  EXPECT_EQ(pause({{"retry-after", "99999999999999999"}}), std::nullopt);
}

TEST(Api, SaysOfAStrangersAnswerWhatItIs) {
  const auto message = [](net::HttpResponse answer) {
    FakeService service([&](const net::HttpRequest&) { return answer; });
    return service.api.Send(CreateRun()).error().message;
  };
  EXPECT_EQ(message(Answer(407, "<!DOCTYPE html>\n<HTML><Title>Sign\nin</Title></HTML>")),
            "ServiceError: 407: a web page, Sign in, not the service's answer: is there a proxy? "
            "(create_job_run of data_science)");
  EXPECT_EQ(message(Answer(400, "<html><title>cut")),
            "ServiceError: 400: a web page, not the service's answer: is there a proxy? "
            "(create_job_run of data_science)");
  EXPECT_EQ(message(Answer(307, "", {{"location", "http://login.hotel/"}})),
            "ServiceError: 307: sent on to http://login.hotel/, where no signed request goes: is "
            "there a proxy? (create_job_run of data_science)");
  EXPECT_EQ(message(Answer(400, "half a li")),
            "ServiceError: 400: half a li (create_job_run of data_science)");
}

TEST(Api, SaysWhenTheServiceAsksForMoreThanIsWaited) {
  FakeService service([](const net::HttpRequest&) {
    return Answer(503, R"({"code":"Unavailable","message":"upkeep"})", {{"retry-after", "3600"}});
  });
  EXPECT_EQ(service.api.Send(CreateRun()).error().message,
            "ServiceError: 503 Unavailable: upkeep (create_job_run of data_science): it asks to be "
            "left alone for 3600 s");
  EXPECT_EQ(service.requests.size(), 1U);
}

TEST(Api, ABrokenBreakerEndsPausesAndWhatComesAfterThem) {
  FakeService* of = nullptr;
  FakeService service([&](const net::HttpRequest&) {
    of->breaker.Break();
    return Answer(503);
  });
  of = &service;
  EXPECT_EQ(service.api.Send(CreateRun()).error().code, base::Code::kCancelled);
  EXPECT_EQ(service.api.Send(CreateRun()).error().message, "interrupted");
  EXPECT_EQ(service.requests.size(), 1U);
  service.breaker.Mend();
  EXPECT_FALSE(service.api.Send(CreateRun()));
  EXPECT_EQ(service.requests.size(), 2U);
}

TEST(Api, ABrokenBreakerLeavesTheRefusalOfACreation) {
  FakeService* of = nullptr;
  FakeService service([&](const net::HttpRequest&) {
    of->breaker.Break();
    return Answer(429, R"({"code":"TooManyRequests","message":"later"})");
  });
  of = &service;
  const auto refused = service.api.Send(CreateRun());
  ASSERT_FALSE(refused);
  EXPECT_FALSE(MayBeDone(refused.error())) << refused.error().message;
  service.breaker.Mend();
  ApiRequest get = CreateRun();
  get.is_create = false;
  EXPECT_EQ(service.api.Send(get).error().code, base::Code::kCancelled);
}

TEST(Breaker, EndsAPauseOfAnotherThread) {
  Breaker breaker;
  std::thread pausing([&] { breaker.Pause(std::chrono::hours(1)); });
  breaker.Break();
  pausing.join();
  breaker.Pause(std::chrono::hours(1));  // it is still broken
}

TEST(HostHeader, LeavesTheUsualPortOut) {
  EXPECT_EQ(HostHeader(*net::ParseUrl("https://a.b")), "a.b");
  EXPECT_EQ(HostHeader(*net::ParseUrl("http://a.b:443")), "a.b:443");
  EXPECT_EQ(HostHeader(*net::ParseUrl("http://[::1]:80")), "[::1]");
}

}  // namespace
}  // namespace ads::oci

#include "dashboard/access.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

constexpr Access::Moment kNow{};

net::HttpRequest Request(net::Headers headers, std::string method = "GET") {
  return {.method = std::move(method), .target = "/", .headers = std::move(headers), .body = ""};
}

class AccessTest : public testing::Test {
 protected:
  Access access_{8642, {"link", "session"}, kNow};

  std::optional<base::Error> Check(net::Headers headers, std::string method = "GET",
                                   Access::Area area = Access::Area::kData) {
    return access_.Check(Request(std::move(headers), std::move(method)), area);
  }
};

const std::pair<std::string, std::string> kHost{"Host", "127.0.0.1:8642"};
const std::pair<std::string, std::string> kOrigin{"Origin", "http://127.0.0.1:8642"};
const std::pair<std::string, std::string> kCookie{"Cookie", "a=b; muster-dash-8642=session"};

TEST_F(AccessTest, TheLinkIsGoodOnce) {
  const auto cookie = access_.Redeem("link", kNow);
  ASSERT_TRUE(cookie);
  EXPECT_EQ(*cookie, "muster-dash-8642=session; Path=/; HttpOnly; SameSite=Strict");
  const auto again = access_.Redeem("link", kNow);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, base::Code::kPermissionDenied);
  EXPECT_NE(again.error().message.find("was used"), std::string::npos);
}

TEST_F(AccessTest, TheLinkGrowsOld) {
  const auto late = access_.Redeem("link", kNow + kLinkLifetime);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("too old"), std::string::npos);
}

TEST_F(AccessTest, AnotherLinkDoesNotUseThisOneUp) {
  EXPECT_FALSE(access_.Redeem("linK", kNow));
  EXPECT_FALSE(access_.Redeem("", kNow));
  EXPECT_TRUE(access_.Redeem("link", kNow));
}

TEST_F(AccessTest, DataWantsTheCookie) {
  EXPECT_FALSE(Check({kHost, kCookie}));
  for (const char* cookie : {"", "muster-dash-8642=", "muster-dash-8642=sessio",
                             "muster-dash-1=session", "xmuster-dash-8642=session"}) {
    const auto refusal = Check({kHost, {"Cookie", cookie}});
    ASSERT_TRUE(refusal) << cookie;
    EXPECT_EQ(refusal->code, base::Code::kUnauthenticated);
  }
  EXPECT_FALSE(Check({kHost}, "GET", Access::Area::kAssets));
}

TEST_F(AccessTest, AnotherHostIsRefusedWhateverItKnows) {
  for (const char* host : {"evil.example:8642", "127.0.0.1", "127.0.0.1:80", "", "localhost"}) {
    for (const auto area : {Access::Area::kAssets, Access::Area::kData}) {
      const auto refusal = Check({{"Host", host}, kCookie}, "GET", area);
      ASSERT_TRUE(refusal) << host;
      EXPECT_EQ(refusal->code, base::Code::kPermissionDenied);
    }
  }
  EXPECT_FALSE(Check({{"Host", "localhost:8642"}, kCookie}));
}

TEST_F(AccessTest, AnotherOriginIsRefused) {
  for (const char* origin : {"http://evil.example", "http://127.0.0.1:8643", "null",
                             "https://127.0.0.1:8642", "http://localhost:8642"}) {
    EXPECT_TRUE(Check({kHost, kCookie, {"Origin", origin}})) << origin;
    EXPECT_TRUE(Check({kHost, kCookie, {"Origin", origin}}, "POST")) << origin;
  }
  EXPECT_TRUE(Check({kHost, kCookie, {"Sec-Fetch-Site", "cross-site"}}));
  EXPECT_TRUE(Check({kHost, kCookie, {"Sec-Fetch-Site", "same-site"}}));
  EXPECT_FALSE(Check({kHost, kCookie, {"Sec-Fetch-Site", "same-origin"}}));
}

TEST_F(AccessTest, WritesSayWhereTheyComeFrom) {
  EXPECT_TRUE(Check({kHost, kCookie}, "POST"));
  EXPECT_FALSE(Check({kHost, kCookie, kOrigin}, "POST"));
}

TEST_F(AccessTest, ALinkFromElsewhereLeadsToThePageAndToNoData) {
  const net::Headers visit = {
      kHost, kCookie, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_FALSE(Check(visit, "GET", Access::Area::kAssets));
  EXPECT_TRUE(Check(visit, "GET", Access::Area::kData));
}

}  // namespace
}  // namespace dashboard

#include "arena/objects/fetch_url.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "net/testing/loopback_server.h"

namespace arena {
namespace {

using std::chrono::seconds;

TEST(FetchUrlTest, RedirectsLeadOnFromWhereTheyAre) {
  EXPECT_EQ(RedirectTarget("https://a/x/y?q", "https://b/z"), "https://b/z");
  EXPECT_EQ(RedirectTarget("https://a/x/y?q=/1", "/z"), "https://a/z");
  EXPECT_EQ(RedirectTarget("https://a/x", "/login?next=https://a/x"),
            "https://a/login?next=https://a/x");
  EXPECT_EQ(RedirectTarget("https://a/x/y", "z?next=https://b"), "https://a/x/z?next=https://b");
  EXPECT_EQ(RedirectTarget("https://a/x/y?q", "z"), "https://a/x/z");
  EXPECT_EQ(RedirectTarget("https://a", "z"), "https://a/z");
  EXPECT_EQ(RedirectTarget("https://a/x", "//b/z"), "https://b/z");
}

TEST(FetchUrlTest, ErrorsKeepSecrets) {
  for (const std::string url : {"http://tom:s3cret@127.0.0.1:1/x", "http://tom:s3cret@h:x/y",
                                "http://127.0.0.1:1/p/s3cret/n/x", "http://127.0.0.1:1/x?s3cret",
                                "http://127.0.0.1:1/p/s3cret/n/x y"}) {
    const auto fetched = FetchUrl(url, {}, {1 << 20, seconds(60)});
    ASSERT_FALSE(fetched);
    const std::string& message = fetched.error().message;
    EXPECT_TRUE(message.starts_with("http://")) << message;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  }
}

void AnswerWithoutEnd(base::Fd peer) {
  std::string sent = "HTTP/1.1 200 OK\r\n\r\n";
  while (::send(peer.get(), sent.data(), sent.size(), MSG_NOSIGNAL) > 0) sent.assign(4096, 'x');
}

TEST(FetchUrlTest, SizeAndTimeHaveTheCallersLimits) {
  const net::LoopbackServer server(AnswerWithoutEnd);
  const std::string url = "http://" + server.authority() + "/";
  EXPECT_EQ(FetchUrl(url, {}, {1 << 20, seconds(60)}).error().code, base::Code::kExhausted);
  EXPECT_NE(FetchUrl(url, {}, {1 << 30, seconds(0)}).error().code, base::Code::kExhausted);
}

}  // namespace
}  // namespace arena

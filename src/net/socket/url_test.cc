#include "net/socket/url.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(Url, HasAHostAPortAndAPath) {
  const auto url = ParseUrl("https://user:pw@api.example.org:6443/clusters/c1//");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->user_info, "user:pw");
  EXPECT_EQ(url->host, "api.example.org");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->path, "/clusters/c1");
  EXPECT_EQ(url->Authority(), "api.example.org:6443");
}

TEST(Url, TheSchemeGivesThePort) {
  EXPECT_EQ(ParseUrl("HTTPS://x")->port, 443);
  EXPECT_EQ(ParseUrl("http://x/")->port, 80);
  EXPECT_EQ(ParseUrl("http://x/")->path, "");
}

TEST(Url, AnIpv6AddressStandsInBrackets) {
  const auto url = ParseUrl("https://[2001:db8::1]:6443");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "2001:db8::1");
  EXPECT_EQ(url->Authority(), "[2001:db8::1]:6443");
}

TEST(Url, RefusesWhatIsNone) {
  for (const char* text :
       {"", "localhost:6443", "ftp://x", "https://", "https://:1", "https://x:0", "https://x:99999",
        "https://x:-1", "https://x y", "https://x\n", "https://[::1", "https://[x]", "https://x/?a",
        "https://x/#a", "https://x:1:2", "https://%31"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(url.error().message.find("is not a URL: "), std::string::npos);
  }
}

TEST(Url, IsShownWithoutItsSecrets) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://h:80/a/b", "https://h:80/a/b"},
      {"http://tom:s3cret@h/x.yaml", "http://h/x.yaml"},
      {"http://tom:s3@cret@h", "http://h"},
      {"https://h/x@y", "https://h/x@y"},
      {"https://h/x?sig=s3cret", "https://h/x?..."},
      {"https://h?sig=s3cret", "https://h?..."},
      {"https://os/p/s3cret/n/ns/b/b/o/x.yaml", "https://os/p/.../n/ns/b/b/o/x.yaml"},
      {"https://h/p/x.yaml", "https://h/p/x.yaml"},
      {"no URL", "no URL"},
      {"", ""},
  };
  for (const auto& [url, shown] : cases) EXPECT_EQ(ShownUrl(url), shown);
  EXPECT_EQ(ParseUrl("http://tom:s3cret@h:x").error().message,
            "\"http://h:x\" is not a URL: host or port is malformed");
}

TEST(Url, KnowsAPortThatIsNamed) {
  for (const char* url :
       {"http://h:80", "socks5://u:p@h:80/", "http://[::1]:1080", "http://h:80?x"}) {
    EXPECT_TRUE(NamesPort(url)) << url;
  }
  for (const char* url : {"http://h", "socks5://u:80@h", "socks5://[fd00::80]", "http://[::80]/:80",
                          "http://u:80@[::80]", "http://h/x:80"}) {
    EXPECT_FALSE(NamesPort(url)) << url;
  }
}

}  // namespace
}  // namespace net

#include "net/curl/proxy.h"

#include <gtest/gtest.h>

namespace net {
namespace {

std::string Proxy(const char* url, std::map<std::string, std::string> variables) {
  return ProxyFor(*ParseUrl(url), base::Environment(std::move(variables)));
}

TEST(Proxy, IsTheOneOfTheScheme) {
  EXPECT_EQ(Proxy("https://k", {}), "");
  EXPECT_EQ(Proxy("https://k", {{"HTTPS_PROXY", "http://p:1"}, {"HTTP_PROXY", "http://q"}}),
            "http://p:1");
  EXPECT_EQ(Proxy("http://k", {{"HTTPS_PROXY", "http://p:1"}}), "");
  EXPECT_EQ(Proxy("https://k", {{"https_proxy", "p:3128"}}), "http://p:3128");
}

TEST(Proxy, IsNeverAskedForThisMachine) {
  for (const char* url :
       {"https://localhost:1", "https://127.0.0.1:1", "https://127.9.9.9", "https://[::1]:1"}) {
    EXPECT_EQ(Proxy(url, {{"HTTPS_PROXY", "http://p"}}), "") << url;
  }
}

struct NoProxyCase {
  const char* url;
  const char* no_proxy;
  bool is_proxied;
};

TEST(Proxy, IsNotAskedForWhatNoProxyNames) {
  const NoProxyCase cases[] = {
      {"https://a.b.org", "b.org", false},
      {"https://b.org", "b.org", false},
      {"https://ab.org", "b.org", true},
      {"https://b.org", ".b.org", true},
      {"https://A.B.org", "x, .b.ORG ,y", false},
      {"https://a.b.org", "*.b.org", false},
      {"https://a.b.org", "*", false},
      {"https://a.b.org:6443", "b.org:6443", false},
      {"https://a.b.org:6443", "b.org:443", true},
      {"https://10.1.2.3", "10.0.0.0/8", false},
      {"https://11.1.2.3", "10.0.0.0/8", true},
      {"https://10.1.2.3", "10.1.2.3", false},
      {"https://10.1.2.3:5", "10.1.2.3:6", true},
      {"https://[2001:db8::1]", "2001:db8::/32", false},
      {"https://[2001:db8::1]", "[2001:db8::1]:443", false},
      {"https://10.1.2.3", "10.0.0.0/99", true},
      {"https://a", "", true},
      {"https://a", ",,", true},
  };
  for (const NoProxyCase& c : cases) {
    EXPECT_EQ(Proxy(c.url, {{"HTTPS_PROXY", "http://p"}, {"NO_PROXY", c.no_proxy}}) == "http://p",
              c.is_proxied)
        << c.url << " " << c.no_proxy;
  }
}

TEST(ProxyForCurl, HasThePortThatGoMeansAndLeavesNamesToSocks) {
  EXPECT_EQ(ProxyForCurl(""), "");
  EXPECT_EQ(ProxyForCurl("http://p"), "http://p:80");
  EXPECT_EQ(ProxyForCurl("http://p:3128/"), "http://p:3128");
  EXPECT_EQ(ProxyForCurl("https://me:p%40ss@p"), "https://me:p%40ss@p:443");
  EXPECT_EQ(ProxyForCurl("http://[::1]"), "http://[::1]:80");
  EXPECT_EQ(ProxyForCurl("socks5://me:pw@p"), "socks5h://me:pw@p:1080");
  EXPECT_EQ(ProxyForCurl("socks5h://p:80"), "socks5h://p:80");
  EXPECT_EQ(ProxyForCurl("ftp://p"), "ftp://p");
}

}  // namespace
}  // namespace net

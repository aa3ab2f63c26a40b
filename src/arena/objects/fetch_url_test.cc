#include "arena/objects/fetch_url.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "base/fd.h"

namespace arena {
namespace {

using std::chrono::seconds;

TEST(FetchUrlTest, RedirectsLeadOnFromWhereTheyAre) {
  EXPECT_EQ(RedirectTarget("https://a/x/y?q", "https://b/z"), "https://b/z");
  EXPECT_EQ(RedirectTarget("https://a/x/y?q=/1", "/z"), "https://a/z");
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

// Answers one request, without an end.
class EndlessServer {
 public:
  EndlessServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    thread_ = std::jthread([this] {
      const base::Fd peer(::accept(listener_.get(), nullptr, nullptr));
      std::string sent = "HTTP/1.1 200 OK\r\n\r\n";
      while (::send(peer.get(), sent.data(), sent.size(), MSG_NOSIGNAL) > 0) sent.assign(4096, 'x');
    });
  }
  ~EndlessServer() { ::shutdown(listener_.get(), SHUT_RDWR); }
  const std::string& url() const { return url_; }

 private:
  base::Fd listener_;
  std::string url_;
  std::jthread thread_;
};

TEST(FetchUrlTest, SizeAndTimeHaveTheCallersLimits) {
  const EndlessServer large;
  EXPECT_EQ(FetchUrl(large.url(), {}, {1 << 20, seconds(60)}).error().code, base::Code::kExhausted);
  const EndlessServer slow;
  EXPECT_NE(FetchUrl(slow.url(), {}, {1 << 30, seconds(0)}).error().code, base::Code::kExhausted);
}

}  // namespace
}  // namespace arena

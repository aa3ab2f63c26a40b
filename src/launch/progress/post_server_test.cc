#include "launch/progress/post_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "base/strings.h"
#include "launch/progress/post_answer.h"

namespace launch {
namespace {

constexpr std::string_view kBody =
    R"({"trainerStatus": {"progressPercentage": 5, "lastUpdatedTime": "2026-11-24T10:00:00Z"}})";

struct PostServerTest : testing::Test {
  PostServerTest() {
    auto listening = PostServer::Listen(*loop, "secret", [this](const runs::StatusPost& post) {
      percents.push_back(post.percent.value_or(-1));
    });
    server = std::move(*listening);
    const std::string url = server->Url();
    const size_t begin = url.rfind(':') + 1;
    port = static_cast<uint16_t>(*base::ParseInt(url.substr(begin, url.find('/', begin) - begin)));
  }

  base::Fd Connect() const {
    base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static std::string Request(std::string_view body, size_t length) {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Length: "
        "{}\r\n\r\n{}",
        api::StatusUrl("", kPostedNamespace, kPostedJob), length, body);
  }
  // The first line of the answer to `request`, sent in pieces; "" of none.
  std::string Ask(const std::string& request, size_t piece = 1 << 20) {
    std::string answer;
    std::thread client([&] {
      const base::Fd fd = Connect();
      for (size_t at = 0; at < request.size(); at += piece) {
        const std::string part = request.substr(at, piece);
        EXPECT_EQ(::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(part.size()));
      }
      char buffer[4096];
      for (ssize_t count = 1; count > 0;) {
        count = ::recv(fd.get(), buffer, sizeof buffer, 0);
        if (count > 0) answer.append(buffer, static_cast<size_t>(count));
      }
      loop->Post([this] { loop->Stop(); });
    });
    EXPECT_TRUE(loop->Run());
    client.join();
    return answer.substr(0, answer.find('\r'));
  }

  std::unique_ptr<process::EventLoop> loop =
      std::move(*process::EventLoop::Create(base::SystemClock()));
  std::vector<int64_t> percents;
  std::unique_ptr<PostServer> server;
  uint16_t port = 0;
};

TEST_F(PostServerTest, TakesAPostThatComesInPieces) {
  EXPECT_EQ(Ask(Request(kBody, kBody.size()), 7), "HTTP/1.1 200 OK");
  EXPECT_EQ(percents, std::vector<int64_t>{5});
}

TEST_F(PostServerTest, RefusesWhatIsTooLargeBeforeItHasCome) {
  const size_t size = runs::kMostPostBytes + 1;
  EXPECT_TRUE(Ask(Request(std::string(size, ' '), size)).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(percents.empty());
}

TEST_F(PostServerTest, AnswersWhatIsNotHttp) {
  EXPECT_TRUE(Ask("hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(PostServerTest, ManyConnectionsThatSayNothingDoNotGrow) {
  std::vector<base::Fd> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(Connect());
  // Whoever comes too late is closed without an answer, and may come again when others have left.
  EXPECT_EQ(Ask(""), "");
  silent.clear();
  EXPECT_EQ(Ask(Request(kBody, kBody.size())), "HTTP/1.1 200 OK");
}

}  // namespace
}  // namespace launch

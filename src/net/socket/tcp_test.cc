#include "net/socket/tcp.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

#include "net/client/client.h"

namespace net {
namespace {

// A listening socket on a free port of the loopback, and the port.
std::pair<base::Fd, uint16_t> Listen() {
  base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  socklen_t size = sizeof address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return {std::move(fd), ntohs(address.sin_port)};
}

TEST(TcpSocket, ReportsWhyThereIsNoConnection) {
  uint16_t closed = 0;
  {
    closed = Listen().second;
  }
  const auto refused = ConnectToTcp("127.0.0.1", closed, std::chrono::seconds(5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnavailable);
  const auto unknown = ConnectToTcp("no such host", 80, std::chrono::seconds(5));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::Code::kNotFound);
}

// 127.0.0.1 at `port`, and what comes after it.
struct Address {
  Address(uint16_t port, addrinfo* next) {
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    info.ai_family = AF_INET;
    info.ai_addr = reinterpret_cast<sockaddr*>(&where);
    info.ai_addrlen = sizeof where;
    info.ai_next = next;
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;

  sockaddr_in where{};
  addrinfo info{};
};

// Listens, but its queue is full: a client that connects now hears nothing, as behind a firewall.
class BlackHole {
 public:
  BlackHole() {
    EXPECT_EQ(::listen(listener_.first.get(), 0), 0);
    const Address address(listener_.second, nullptr);
    for (int i = 0; i < 8; ++i) {
      base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(fd.get(), address.info.ai_addr, address.info.ai_addrlen);
      filling_.push_back(std::move(fd));
    }
  }
  uint16_t port() const { return listener_.second; }

 private:
  std::pair<base::Fd, uint16_t> listener_ = Listen();
  std::vector<base::Fd> filling_;
};

TEST(TcpSocket, AnAddressThatDoesNotAnswerIsNotWaitedFor) {
  const BlackHole hole;
  const auto [listener, port] = Listen();
  Address good(port, nullptr);
  Address deaf(hole.port(), &good.info);
  // An hour: to wait for the first address would be a test that does not end.
  const auto connected = ConnectToAny(&deaf.info, "connect", std::chrono::hours(1));
  ASSERT_TRUE(connected) << connected.error().message;
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  ASSERT_EQ(::getpeername(connected->get(), reinterpret_cast<sockaddr*>(&peer), &size), 0);
  EXPECT_EQ(ntohs(peer.sin_port), port);
}

TEST(TcpSocket, ReportsWhyNoAddressAnswers) {
  const BlackHole hole;
  uint16_t closed = 0;
  {
    closed = Listen().second;
  }
  Address refuses(closed, nullptr);
  const auto refused = ConnectToAny(&refuses.info, "connect", std::chrono::hours(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnavailable);
  Address deaf(hole.port(), &refuses.info);
  const auto late = ConnectToAny(&deaf.info, "connect", std::chrono::milliseconds(300));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, base::Code::kTimeout);
}

TEST(TcpSocket, AClientSpeaksOverIt) {
  auto [listener, port] = Listen();
  std::string received;
  std::jthread server([&listener = listener, &received] {
    const base::Fd peer(::accept(listener.get(), nullptr, nullptr));
    char buffer[4096];
    while (received.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::recv(peer.get(), buffer, sizeof buffer, 0);
      if (count <= 0) return;
      received.append(buffer, static_cast<size_t>(count));
    }
    const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    EXPECT_EQ(::send(peer.get(), answer.data(), answer.size(), 0),
              static_cast<ssize_t>(answer.size()));
  });
  const auto client = HttpClient::Tcp("localhost", port, std::chrono::seconds(30));
  const auto response = client->Send({"GET", "/x", {{"Host", "h:1"}}, ""});
  server.join();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "hi");
  EXPECT_TRUE(received.starts_with("GET /x HTTP/1.1\r\nHost: h:1\r\n")) << received;
}

TEST(TcpSocket, AServerThatIsSilentIsGivenUpOn) {
  const auto [listener, port] = Listen();
  const auto client = HttpClient::Tcp("127.0.0.1", port, std::chrono::milliseconds(1));
  const auto response = client->Send({"GET", "/", {}, ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, base::Code::kTimeout);
}

TEST(TcpSocket, ListensWhereGosListenersWould) {
  const auto everywhere = ParseHostPort(":8080");
  ASSERT_TRUE(everywhere);
  EXPECT_EQ(everywhere->host, "");
  EXPECT_EQ(everywhere->port, 8080);
  const auto six = ParseHostPort("[::1]:0");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  for (const char* const text : {"", "8080", "host:", ":70000", ":-1", ":80x"}) {
    EXPECT_FALSE(ParseHostPort(text)) << text;
  }
}

TEST(TcpSocket, APortIsHeldByOneListener) {
  const auto first = ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const uint16_t port = LocalPort(first->get());
  ASSERT_NE(port, 0);
  EXPECT_TRUE(ConnectToTcp("127.0.0.1", port, std::chrono::seconds(5)));
  const auto second = ListenOnTcp("127.0.0.1", port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kAlreadyExists);
  const auto everywhere = ListenOnTcp("", 0);
  ASSERT_TRUE(everywhere);
  EXPECT_TRUE(ConnectToTcp("127.0.0.1", LocalPort(everywhere->get()), std::chrono::seconds(5)));
  EXPECT_EQ(ListenOnTcp("a name", 0).error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace net

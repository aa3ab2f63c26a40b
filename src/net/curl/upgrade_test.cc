// WebSockets over the connections that libcurl makes.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <mutex>
#include <thread>

#include "net/curl/client.h"
#include "net/socket/tcp.h"
#include "net/testing/loopback_server.h"
#include "net/testing/tls_server_fixture.h"
#include "net/websocket/client.h"
#include "net/websocket/handshake.h"
#include "net/websocket/server.h"

namespace net {
namespace {

// Exactly `size` bytes, or fewer when the peer closes.
std::string ReceiveBytes(int fd, size_t size) {
  std::string bytes(size, '\0');
  const ssize_t count = ::recv(fd, bytes.data(), size, MSG_WAITALL);
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

std::string ReceiveHead(int fd) {
  std::string text;
  while (!text.ends_with("\r\n\r\n")) {
    const std::string byte = ReceiveBytes(fd, 1);
    if (byte.empty()) break;
    text += byte;
  }
  return text;
}

void SendText(int fd, std::string_view text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

// Bytes from one socket to another until there are no more; then both directions end.
void CarryBytes(int from, int to) {
  char buffer[16 << 10];
  ssize_t count = 0;
  while ((count = ::recv(from, buffer, sizeof buffer, 0)) > 0) {
    if (::send(to, buffer, static_cast<size_t>(count), MSG_NOSIGNAL) != count) break;
  }
  ::shutdown(to, SHUT_RDWR);
}

// A server that says every WebSocket message back, reached through TLS.
class Upgrade : public TlsServerFixture {
 protected:
  void SetUp() override {
    TlsServerFixture::SetUp();
    ServeTls([this](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
      Answer(request, responder);
    });
    options_.url = *ParseUrl(Origin() + "/base");
    options_.ca_pem = authority_.certificate;
  }
  void TearDown() override {
    TlsServerFixture::TearDown();
    peers_.clear();
  }

  void Answer(const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
    const std::lock_guard lock(mutex_);
    seen_ = request.target + " " + std::string(FindHeader(request.headers, "Host"));
    auto headers = AcceptWebSocket(request, {"echo"});
    if (!headers) return responder->Send({400, {{"A", "b"}}, headers.error().message});
    const auto peer = std::make_shared<std::shared_ptr<WebSocketPeer>>();
    const auto message = std::make_shared<std::string>();
    *peer = WebSocketPeer::Start(responder, std::move(*headers),
                                 [peer, message](const WebSocketPiece& piece) {
                                   (*peer)->Used(piece.payload.size());
                                   *message += piece.payload;
                                   if (!piece.ends) return;
                                   (*peer)->Send(*message);
                                   message->clear();
                                 });
    responder->OnClose([peer] { peer->reset(); });
    peers_.push_back(peer);
  }

  base::Result<WebSocketAnswer> Open(const std::string& protocol = "echo") {
    auto client = CurlClient::Create(options_);
    if (!client) return base::Fail(client.error());
    HttpRequest request{.method = "GET", .target = "/x?y=z", .headers = {}, .body = {}};
    return OpenWebSocket(**client, request, {protocol});
  }
  std::string Failure() {
    const auto answer = Open();
    return answer ? "no failure" : answer.error().message;
  }
  void ExpectEcho(const std::string& text = "hello") {
    const auto answer = Open();
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(answer->socket) << answer->status << " " << answer->body;
    ASSERT_TRUE(answer->socket->Send(text));
    std::string heard;
    while (heard.size() < text.size()) {
      const auto piece = answer->socket->Read();
      ASSERT_TRUE(piece && *piece);
      heard += (*piece)->payload;
    }
    EXPECT_EQ(heard, text);
  }

  CurlClientOptions options_;
  std::mutex mutex_;
  std::string seen_;
  std::vector<std::shared_ptr<std::shared_ptr<WebSocketPeer>>> peers_;
};

TEST_F(Upgrade, CarriesAWebSocketOverTls) {
  ExpectEcho();
  EXPECT_EQ(seen_, "/base/x?y=z " + options_.url.Authority());
}

TEST_F(Upgrade, ARefusalHasItsStatusHeadersAndWords) {
  const auto answer = Open("other");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(FindHeader(answer->headers, "a"), "b");
  EXPECT_NE(answer->body.find("WebSocket handshake"), std::string::npos);
  EXPECT_FALSE(answer->socket);
}

TEST_F(Upgrade, BothDirectionsFlowAtOnce) {
  const auto answer = Open();
  ASSERT_TRUE(answer) << answer.error().message;
  const std::string text(200'000, 'x');
  constexpr int kMessages = 60;
  std::jthread sender([&] {
    for (int i = 0; i < kMessages; ++i) EXPECT_TRUE(answer->socket->Send(text));
  });
  size_t heard = 0;
  while (heard < text.size() * kMessages) {
    const auto piece = answer->socket->Read();
    ASSERT_TRUE(piece && *piece) << heard;
    heard += (*piece)->payload.size();
  }
}

TEST_F(Upgrade, CancelWakesAReader) {
  const auto answer = Open();
  ASSERT_TRUE(answer) << answer.error().message;
  std::jthread canceller([&] { answer->socket->Cancel(); });
  EXPECT_EQ(answer->socket->Read().error().code, base::Code::kCancelled);
}

TEST_F(Upgrade, AServerThatGoesIsNoticed) {
  const auto answer = Open();
  ASSERT_TRUE(answer) << answer.error().message;
  listener_.reset();
  const auto end = answer->socket->Read();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
  EXPECT_EQ(end.error().message, "the server closed the connection");
  // Nor does a write to it end the program.
  base::Status written;
  while (written) written = answer->socket->Send(std::string(100'000, 'x'));
  EXPECT_EQ(written.error().code, base::Code::kUnavailable) << written.error().message;
}

TEST_F(Upgrade, OnlyTheRightServerIsTrusted) {
  const base::Time now = base::SystemClock().Now();
  options_.ca_pem = MakeAuthority("other", now, std::chrono::hours(10))->certificate;
  EXPECT_NE(Failure().find("it is signed by an authority that"), std::string::npos) << Failure();
  options_.is_insecure = true;
  ExpectEcho();
  options_.is_insecure = false;
  options_.ca_pem = "nonsense";
  EXPECT_NE(Failure().find("contains no readable certificate"), std::string::npos) << Failure();
  options_.ca_pem = authority_.certificate;
  options_.tls_server_name = "outside.test";
  EXPECT_NE(Failure().find("it is for another name"), std::string::npos) << Failure();
  options_.tls_server_name = "inside.test";
  ExpectEcho();
  EXPECT_TRUE(seen_.ends_with(options_.url.Authority())) << seen_;
  identity_ = *IssueServerCertificate(authority_, {"IP:127.0.0.1"}, now - std::chrono::hours(5),
                                      std::chrono::hours(1));
  options_.tls_server_name = "";
  EXPECT_NE(Failure().find("it has expired"), std::string::npos) << Failure();
}

TEST_F(Upgrade, AnUnusableClientCertificateIsNamed) {
  auto client = CurlClient::Create(options_);
  ASSERT_TRUE(client);
  (*client)->UseIdentity({identity_.certificate, "no key"});
  const HttpRequest request{.method = "GET", .target = "/", .headers = {}, .body = {}};
  const auto answer = OpenWebSocket(**client, request, {"echo"});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("the client certificate or its key cannot be used"),
            std::string::npos)
      << answer.error().message;
  (*client)->UseIdentity({identity_.certificate, identity_.key});
  EXPECT_TRUE(OpenWebSocket(**client, request, {"echo"}));
}

TEST_F(Upgrade, WhatIsNoTlsServerIsNamed) {
  const LoopbackServer plain([](const base::Fd& fd) {
    ReceiveBytes(fd.get(), 5);
    SendText(fd.get(), "HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  options_.url = *ParseUrl("https://" + plain.authority());
  EXPECT_NE(Failure().find("does not speak TLS"), std::string::npos) << Failure();
  const LoopbackServer shut([](const base::Fd&) {});
  options_.url = *ParseUrl("https://" + shut.authority());
  EXPECT_NE(Failure().find("TLS with"), std::string::npos) << Failure();
}

TEST_F(Upgrade, AServerThatSaysNothingIsGivenUp) {
  std::vector<base::Fd> silent;
  const LoopbackServer listener([&](base::Fd fd) { silent.push_back(std::move(fd)); });
  options_.url = *ParseUrl("https://" + listener.authority());
  options_.connect_timeout = std::chrono::milliseconds(100);
  EXPECT_NE(Failure().find("did not answer"), std::string::npos) << Failure();
  options_.url.scheme = "http";
  options_.idle_timeout = std::chrono::seconds(1);
  const auto answer = Open();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kTimeout) << answer.error().message;
}

TEST_F(Upgrade, NobodyAndNobodysName) {
  uint16_t port = 0;
  {
    const LoopbackServer gone([](const base::Fd&) {});
    port = ParseUrl("http://" + gone.authority())->port;
  }
  options_.url = *ParseUrl("https://127.0.0.1:" + std::to_string(port));
  EXPECT_NE(Failure().find("nothing listens at"), std::string::npos) << Failure();
  options_.url = *ParseUrl("https://nowhere.invalid:1");
  EXPECT_NE(Failure().find("no address is known of nowhere.invalid"), std::string::npos);
}

TEST_F(Upgrade, GoesThroughAProxy) {
  std::string head;
  const auto upstream = [this] {
    return *ConnectToTcp("127.0.0.1", listener_->port(), kTestPatience);
  };
  const LoopbackServer proxy([&](const base::Fd& fd) {
    head = ReceiveHead(fd.get());
    const base::Fd server = upstream();
    SendText(fd.get(), "HTTP/1.1 200 OK\r\n\r\n");
    std::jthread back([&] { CarryBytes(server.get(), fd.get()); });
    CarryBytes(fd.get(), server.get());
  });
  options_.proxy = "http://me:p%40ss@" + proxy.authority();
  ExpectEcho();
  EXPECT_TRUE(head.starts_with("CONNECT " + options_.url.Authority() + " HTTP/1.1\r\n")) << head;
  EXPECT_NE(head.find("Proxy-Authorization: Basic bWU6cEBzcw==\r\n"), std::string::npos) << head;
}

TEST_F(Upgrade, AProxyThatRefusesIsNamedWithoutItsPassword) {
  const LoopbackServer proxy([](const base::Fd& fd) {
    ReceiveHead(fd.get());
    SendText(fd.get(), "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  options_.proxy = "http://me:secret@" + proxy.authority();
  const std::string failure = Failure();
  EXPECT_NE(failure.find("the proxy " + proxy.authority() + " refused"), std::string::npos);
  EXPECT_NE(failure.find("407"), std::string::npos) << failure;
  EXPECT_EQ(failure.find("secret"), std::string::npos) << failure;
}

// The name is one that the proxy alone knows.
TEST_F(Upgrade, GoesThroughASocksProxy) {
  using std::string_literals::operator""s;
  std::string login;
  std::string target;
  const LoopbackServer proxy([&](const base::Fd& fd) {
    const std::string greeting = ReceiveBytes(fd.get(), 2);
    EXPECT_NE(ReceiveBytes(fd.get(), static_cast<size_t>(greeting[1])).find('\2'),
              std::string::npos);
    SendText(fd.get(), "\5\2"s);
    login = ReceiveBytes(fd.get(), 8);
    SendText(fd.get(), "\1\0"s);
    target = ReceiveBytes(fd.get(), 5 + 11 + 2);
    const base::Fd server = *ConnectToTcp("127.0.0.1", listener_->port(), kTestPatience);
    SendText(fd.get(), "\5\0\0\1\x7f\0\0\1\0\1"s);
    std::jthread back([&] { CarryBytes(server.get(), fd.get()); });
    CarryBytes(fd.get(), server.get());
  });
  options_.url.host = "inside.test";
  options_.proxy = "socks5://me:pw2@" + proxy.authority();
  ExpectEcho();
  EXPECT_EQ(login, "\1\2me\3pw2"s);
  const uint16_t port = listener_->port();
  EXPECT_EQ(target, "\5\1\0\3\x0binside.test"s + static_cast<char>(port >> 8) +
                        static_cast<char>(port & 0xff));
}

}  // namespace
}  // namespace net

#include "net/tls/listener.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <string>

#include "net/socket/tcp_peer_uid.h"
#include "net/testing/tls_server_fixture.h"

namespace net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using AsioError = boost::system::error_code;

// An HttpServer behind TLS, and a client that trusts its authority.
class Tls : public TlsServerFixture {
 protected:
  void SetUp() override {
    TlsServerFixture::SetUp();
    ServeTls([](HttpRequest request, std::shared_ptr<Responder> responder) {
      responder->Send({200, {}, request.body.empty() ? "over TLS" : request.body});
    });
  }

  // The answer to one request; "" when the handshake failed.
  std::string Ask(const std::string& body = "", const std::string& name = "127.0.0.1") {
    asio::io_context io;
    asio::ssl::context context(asio::ssl::context::tls_client);
    context.add_certificate_authority(asio::buffer(authority_.certificate));
    asio::ssl::stream<tcp::socket> tls(io, context);
    tls.set_verify_mode(asio::ssl::verify_peer);
    tls.set_verify_callback(asio::ssl::host_name_verification(name));
    tls.next_layer().connect({asio::ip::address_v4::loopback(), listener_->port()});
    AsioError error;
    tls.handshake(asio::ssl::stream_base::client, error);
    if (error) return "";
    asio::write(tls, asio::buffer("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                  "Content-Length: " +
                                  std::to_string(body.size()) + "\r\n\r\n" + body));
    std::string answer;
    asio::read(tls, asio::dynamic_buffer(answer), error);
    const size_t end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
  }
};

TEST_F(Tls, IsAnsweredByItsOwnHandler) { EXPECT_EQ(Ask(), "over TLS"); }

TEST_F(Tls, CarriesLargeBodiesBothWays) {
  const std::string body(3'000'000, 'x');
  EXPECT_EQ(Ask(body), body);
}

TEST_F(Tls, ShowsACertificateForItsName) { EXPECT_EQ(Ask("", "127.0.0.2"), ""); }

TEST_F(Tls, ARenewedCertificateIsShownToTheNextPeer) {
  EXPECT_EQ(Ask(), "over TLS");
  const base::Time now = base::SystemClock().Now();
  authority_ = *MakeAuthority("another", now, std::chrono::hours(10));
  EXPECT_EQ(Ask(), "");  // that authority did not sign the old certificate
  identity_ = *IssueServerCertificate(authority_, {"IP:127.0.0.1"}, now, std::chrono::hours(5));
  EXPECT_EQ(Ask(), "over TLS");
}

TEST_F(Tls, WhatIsNoTlsIsClosed) {
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), listener_->port()});
  asio::write(socket, asio::buffer(std::string("GET / HTTP/1.1\r\n\r\n")));
  std::string answer;
  AsioError error;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(Ask(), "over TLS");
}

// Peers that connect and send nothing, or only a hello.
TEST_F(Tls, IdlePeersDoNotLockTheOwnerOut) {
  const auto handler = std::make_shared<const HttpHandler>(
      [](HttpRequest, std::shared_ptr<Responder> responder) { responder->Send({200, {}, "hi"}); });
  listener_.reset();
  auto listener = TlsListener::Listen(
      "127.0.0.1", 0, [this] { return base::Result<KeyedCertificate>(identity_); },
      [this, handler](base::Fd socket) { server_->Adopt(std::move(socket), handler); }, {4, 4});
  ASSERT_TRUE(listener) << listener.error().message;
  listener_ = std::move(*listener);
  asio::io_context io;
  std::vector<tcp::socket> idle;
  for (int i = 0; i < 12; ++i) {
    idle.emplace_back(io).connect({asio::ip::address_v4::loopback(), listener_->port()});
  }
  EXPECT_EQ(Ask(), "hi");
  EXPECT_EQ(Ask(), "hi");
}

TEST_F(Tls, KnowsWhoseConnectionItIs) {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  tcp::socket client(io);
  client.connect(acceptor.local_endpoint());
  tcp::socket accepted = acceptor.accept();
  const auto uid = TcpPeerUid(accepted.native_handle());
  if (!uid && uid.error().code == base::Code::kUnavailable) GTEST_SKIP() << uid.error().message;
  ASSERT_TRUE(uid) << uid.error().message;
  EXPECT_EQ(*uid, ::geteuid());
}

TEST_F(Tls, OnlyLoopbackAndOnlyOnce) {
  const auto listen = [](const std::string& host, uint16_t port) {
    return TlsListener::Listen(
        host, port, [] { return base::Result<KeyedCertificate>(KeyedCertificate()); },
        [](base::Fd) {});
  };
  EXPECT_EQ(listen("0.0.0.0", 0).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(listen("nowhere", 0).error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(listen("127.0.0.1", listener_->port()).error().code, base::Code::kAlreadyExists);
}

}  // namespace
}  // namespace net

// CurlClient with a lane of its own for small writes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/curl/client.h"
#include "net/testing/http2_test_server.h"
#include "net/testing/server_fixture.h"
#include "net/tls/listener.h"

namespace net {
namespace {

using base::Code;
using std::chrono::hours;

class WriteHeavy : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    const base::Time now = base::SystemClock().Now();
    authority_ = *MakeAuthority("test", now, hours(10));
    identity_ = *IssueServerCertificate(authority_, {"IP:127.0.0.1"}, now, hours(5));
    Http2TestServer::Options options;
    options.identity = identity_;
    h2_ = std::make_unique<Http2TestServer>(
        options, [](Http2Peer& peer, const Http2Peer::Request& request, int) {
          const std::string target(FindHeader(request.fields, ":path"));
          peer.Answer(request.stream, target.ends_with("/no") ? 403 : 201, {}, target);
          return true;
        });
    Use(h2_->port());
    options_.ca_pem = authority_.certificate;
    options_.is_write_heavy = true;
  }
  void TearDown() override {
    client_.reset();
    h2_.reset();
    ServerFixture::TearDown();
  }

  void Use(uint16_t port) {
    options_.url = *ParseUrl("https://127.0.0.1:" + std::to_string(port) + "/base");
  }
  std::unique_ptr<CurlClient> Open() {
    auto client = CurlClient::Create(options_);
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }
  static HttpRequest Post(std::string target = "/x") {
    return {.method = "POST", .target = std::move(target), .headers = {{"A", "b"}}, .body = "{}"};
  }
  base::Error FailureOf(const HttpRequest& request) {
    const auto answer = Open()->Send(request);
    return answer ? base::Error() : answer.error();
  }
  // By the lane as by libcurl.
  void ExpectSameFailure(Code code) {
    options_.is_write_heavy = false;
    const base::Error expected = FailureOf(Post());
    options_.is_write_heavy = true;
    const base::Error failure = FailureOf(Post());
    EXPECT_EQ(failure.code, code) << failure.message;
    EXPECT_EQ(failure.code, expected.code);
    EXPECT_EQ(failure.message, expected.message);
  }

  KeyedCertificate authority_;
  KeyedCertificate identity_;
  CurlClientOptions options_;
  std::unique_ptr<Http2TestServer> h2_;
};

TEST_F(WriteHeavy, SmallWritesShareAConnection) {
  const auto client = Open();
  std::vector<HttpRequest> requests(100, Post());
  requests.push_back(Post("/no"));
  const auto answers = client->SendAll(requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].error().message;
    EXPECT_EQ(answers[i]->status, i < 100 ? 201 : 403);
    EXPECT_EQ(answers[i]->body, "/base" + requests[i].target);
  }
  EXPECT_EQ(client->Send(Post())->status, 201);
  EXPECT_EQ(h2_->connections(), 1);
}

TEST_F(WriteHeavy, AllElseIsLibcurls) {
  const auto client = Open();
  std::vector<HttpRequest> requests(5, Post());
  requests[1] = {.method = "GET", .target = "/get", .headers = {}, .body = {}};
  requests[2].body.assign(100'000, 'x');
  requests[3].headers.emplace_back("X", "y\r\nZ: z");
  const auto answers = client->SendAll(requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (const size_t good : {0, 1, 2, 4}) {
    ASSERT_TRUE(answers[good]) << answers[good].error().message;
    EXPECT_EQ(answers[good]->body, "/base" + requests[good].target);
  }
  ASSERT_FALSE(answers[3]);
  EXPECT_EQ(answers[3].error().code, Code::kInvalidArgument);
  EXPECT_EQ(h2_->connections(), 2);
}

TEST_F(WriteHeavy, AServerWithoutHttp2GetsThemByLibcurl) {
  Serve([](HttpRequest, std::shared_ptr<Responder> responder) {
    responder->Send({500, {}, "on the socket"});
  });
  const auto handler = std::make_shared<const HttpHandler>(
      [](HttpRequest request, std::shared_ptr<Responder> responder) {
        responder->Send({200, {}, request.body});
      });
  const auto listener = TlsListener::Listen(
      "127.0.0.1", 0, [this] { return base::Result<KeyedCertificate>(identity_); },
      [this, handler](base::Fd socket) { server_->Adopt(std::move(socket), handler); });
  ASSERT_TRUE(listener) << listener.error().message;
  Use((*listener)->port());
  const auto client = Open();
  for (const auto& answer : client->SendAll(std::vector<HttpRequest>(3, Post()))) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "{}");
  }
}

TEST_F(WriteHeavy, OnlyTheRightServerIsTrusted) {
  const base::Time now = base::SystemClock().Now();
  options_.ca_pem = MakeAuthority("other", now, hours(10))->certificate;
  ExpectSameFailure(Code::kInvalidArgument);
  options_.is_insecure = true;
  EXPECT_TRUE(Open()->Send(Post()));
  options_.is_insecure = false;
  options_.ca_pem = authority_.certificate;
  options_.url.host = "localhost";
  ExpectSameFailure(Code::kInvalidArgument);
}

TEST_F(WriteHeavy, NobodyThereIsSaidAsEver) {
  h2_.reset();
  ExpectSameFailure(Code::kUnavailable);
}

TEST_F(WriteHeavy, OtherCertificatesAreForANewConnection) {
  const auto client = Open();
  EXPECT_TRUE(client->Send(Post()));
  client->UseAuthorities(authority_.certificate);
  EXPECT_TRUE(client->Send(Post()));
  EXPECT_EQ(h2_->connections(), 1);
  client->UseIdentity({identity_.certificate, identity_.key});
  EXPECT_TRUE(client->Send(Post()));
  EXPECT_EQ(h2_->connections(), 2);
  const base::Time now = base::SystemClock().Now();
  client->UseAuthorities(MakeAuthority("other", now, hours(10))->certificate);
  const auto refused = client->Send(Post());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  client->UseAuthorities(authority_.certificate);
  EXPECT_TRUE(client->Send(Post()));
}

}  // namespace
}  // namespace net

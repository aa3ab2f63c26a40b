// CurlClient's requests over TLS.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/curl/client.h"
#include "net/testing/tls_server_fixture.h"

namespace net {
namespace {

using base::Code;

class CurlOverTls : public TlsServerFixture {
 protected:
  void SetUp() override {
    TlsServerFixture::SetUp();
    ServeTls([](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
      responder->Send({request.target.ends_with("/no") ? 403 : 201, {}, request.target});
    });
    options_.url = *ParseUrl(Origin() + "/base");
    options_.ca_pem = authority_.certificate;
    options_.is_write_heavy = true;
  }

  std::unique_ptr<CurlClient> Open() {
    auto client = CurlClient::Create(options_);
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }
  static HttpRequest Post(std::string target = "/x") {
    return {.method = "POST", .target = std::move(target), .headers = {{"A", "b"}}, .body = "{}"};
  }
  std::string Failure() {
    const auto answer = Open()->Send(Post());
    return answer ? "no failure" : answer.error().message;
  }

  CurlClientOptions options_;
};

TEST_F(CurlOverTls, EachOfManyRequestsGetsItsOwnAnswer) {
  const auto client = Open();
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 150; ++i) requests.push_back(Post("/" + std::to_string(i)));
  requests[3].headers.emplace_back("X", "y\r\nZ: z");
  requests[4].body.assign(100'000, 'x');
  requests[5] = {.method = "GET", .target = "/get", .headers = {}, .body = {}};
  requests[6].target = "/no";
  const auto answers = client->SendAll(requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    if (i == 3) {
      ASSERT_FALSE(answers[i]);
      EXPECT_EQ(answers[i].error().code, Code::kInvalidArgument);
      continue;
    }
    ASSERT_TRUE(answers[i]) << answers[i].error().message;
    EXPECT_EQ(answers[i]->status, i == 6 ? 403 : 201);
    EXPECT_EQ(answers[i]->body, "/base" + requests[i].target);
  }
}

TEST_F(CurlOverTls, OnlyTheRightServerIsTrusted) {
  EXPECT_EQ(Failure(), "no failure");
  options_.ca_pem =
      MakeAuthority("other", base::SystemClock().Now(), std::chrono::hours(10))->certificate;
  EXPECT_NE(Failure().find("it is signed by an authority that"), std::string::npos) << Failure();
  options_.is_insecure = true;
  EXPECT_EQ(Failure(), "no failure");
  options_.is_insecure = false;
  options_.ca_pem = authority_.certificate;
  options_.url.host = "localhost";
  EXPECT_NE(Failure().find("it is for another name"), std::string::npos) << Failure();
  options_.tls_server_name = "inside.test";
  EXPECT_EQ(Failure(), "no failure");
}

TEST_F(CurlOverTls, OtherCertificatesAreForANewConnection) {
  const auto client = Open();
  EXPECT_TRUE(client->Send(Post()));
  client->UseAuthorities(authority_.certificate);
  EXPECT_TRUE(client->Send(Post()));
  EXPECT_EQ(connections_, 1);
  client->UseIdentity({identity_.certificate, identity_.key});
  EXPECT_TRUE(client->Send(Post()));
  EXPECT_EQ(connections_, 2);
  client->UseAuthorities(
      MakeAuthority("other", base::SystemClock().Now(), std::chrono::hours(10))->certificate);
  const auto refused = client->Send(Post());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  client->UseAuthorities(authority_.certificate);
  EXPECT_TRUE(client->Send(Post()));
}

}  // namespace
}  // namespace net

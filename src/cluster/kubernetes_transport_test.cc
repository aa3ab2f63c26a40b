#include "cluster/kubernetes_transport.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <deque>

#include "base/fd.h"
#include "base/file.h"
#include "net/tls/certificate.h"

namespace cluster {
namespace {

// Answers with what a test queued, and keeps what it was asked.
class FakeHttp final : public net::CurlClient {
 public:
  struct Seen {
    std::vector<net::HttpRequest> requests;
    std::deque<net::HttpResponse> answers;
    int certificates = 0;
    std::string ca_pem;
    std::optional<base::Error> failure;  // of the next request
  };
  explicit FakeHttp(Seen& seen) : seen_(seen) {}

  void UseIdentity(net::ClientIdentity) override { ++seen_.certificates; }
  void UseAuthorities(std::string ca_pem) override { seen_.ca_pem = std::move(ca_pem); }
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    seen_.requests.push_back(request);
    if (auto failure = std::exchange(seen_.failure, std::nullopt)) return base::Fail(*failure);
    if (seen_.answers.empty()) return base::Fail(base::Code::kUnavailable, "nothing queued");
    net::HttpResponse answer = std::move(seen_.answers.front());
    seen_.answers.pop_front();
    return answer;
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<base::Result<net::HttpResponse>> answers;
    for (const auto& request : requests) answers.push_back(Send(request));
    return answers;
  }
  base::Result<net::HttpResponse> SendFile(const net::HttpRequest& request,
                                           const net::FileRange&) override {
    return Send(request);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    TRY_ASSIGN(net::HttpResponse answer, Send(request));
    return std::unique_ptr<net::BodyStream>(std::make_unique<Stream>(std::move(answer)));
  }
  base::Result<net::UpgradeAnswer> Upgrade(const net::HttpRequest& request) override {
    TRY_ASSIGN(net::HttpResponse answer, Send(request));
    return net::UpgradeAnswer{answer.status, std::move(answer.headers), std::move(answer.body),
                              nullptr};
  }

 private:
  class Stream final : public net::BodyStream {
   public:
    explicit Stream(net::HttpResponse answer) : answer_(std::move(answer)) {}
    int status() const override { return answer_.status; }
    const net::Headers& headers() const override { return answer_.headers; }
    base::Result<std::optional<std::string>> Read() override {
      return std::optional<std::string>();
    }
    void Cancel() override {}

   private:
    const net::HttpResponse answer_;
  };

  Seen& seen_;
};

class KubernetesTransportTest : public testing::Test {
 protected:
  KubernetesTransportTest() : clock_(*base::ParseRfc3339("2026-07-30T10:00:00Z")) {
    Credentials::Options options;
    options.selection.user_name = "tom";
    options.selection.user.as = "eve";
    options.selection.user.exec.emplace();
    options.selection.user.exec->api_version = "client.authentication.k8s.io/v1";
    options.run_plugin = [this](const ExecPlugin&, const std::string&, bool) {
      return base::Result<std::string>(
          R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
              "status": {"token": ")" +
          token_ + "\"}}");
    };
    transport_ = KubernetesTransport(std::make_unique<FakeHttp>(seen_),
                                     std::make_unique<Credentials>(std::move(options), clock_),
                                     [this](base::Duration pause) { pauses_.push_back(pause); });
  }
  void Queue(int status, net::Headers headers = {}) {
    seen_.answers.push_back({status, std::move(headers), ""});
  }
  std::string_view Authorization(size_t n) {
    return net::FindHeader(seen_.requests.at(n).headers, "Authorization");
  }
  static net::HttpRequest Request(std::string method = "GET") {
    return {.method = std::move(method), .target = "/x", .headers = {}, .body = {}};
  }

  base::FakeClock clock_;
  std::string token_ = "one";
  FakeHttp::Seen seen_;
  std::vector<base::Duration> pauses_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(KubernetesTransportTest, ShowsWhoWeAreWithEveryRequest) {
  Queue(200);
  Queue(200);
  EXPECT_EQ(transport_->Send(Request())->status, 200);
  EXPECT_EQ((*transport_->Open(Request()))->status(), 200);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(Authorization(n), "Bearer one");
    EXPECT_EQ(net::FindHeader(seen_.requests[n].headers, "Impersonate-User"), "eve");
  }
  EXPECT_EQ(seen_.certificates, 1);
}

TEST_F(KubernetesTransportTest, RenewsWhatWasRefusedOnce) {
  Queue(200);
  ASSERT_TRUE(transport_->Send(Request()));
  token_ = "two";
  Queue(401);
  Queue(200);
  EXPECT_EQ(transport_->Send(Request("POST"))->status, 200);
  EXPECT_EQ(Authorization(1), "Bearer one");
  EXPECT_EQ(Authorization(2), "Bearer two");
  token_ = "three";
  Queue(401);
  Queue(401);
  const auto refused = transport_->Open(Request());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kUnauthenticated);
  EXPECT_EQ(seen_.requests.size(), 5U);
}

TEST_F(KubernetesTransportTest, WaitsAsLongAsTheServerSays) {
  Queue(429, {{"Retry-After", "3"}});
  Queue(503, {{"Retry-After", "1"}});
  Queue(200);
  EXPECT_EQ(transport_->Send(Request())->status, 200);
  EXPECT_EQ(pauses_,
            (std::vector<base::Duration>{std::chrono::seconds(3), std::chrono::seconds(1)}));
  Queue(503, {{"Retry-After", "3"}});
  EXPECT_EQ(transport_->Send(Request("POST"))->status, 503);
  EXPECT_EQ(pauses_.size(), 2U);
}

TEST_F(KubernetesTransportTest, AWebSocketIsAskedForAsOtherThings) {
  Queue(200);
  ASSERT_TRUE(transport_->Send(Request()));
  token_ = "two";
  Queue(401);
  Queue(503, {{"Retry-After", "2"}});
  Queue(403, {{"A", "b"}});
  const auto answer = transport_->OpenWebSocket(Request(), {"p"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(net::FindHeader(answer->headers, "A"), "b");
  EXPECT_EQ(Authorization(1), "Bearer one");
  EXPECT_EQ(Authorization(3), "Bearer two");
  EXPECT_EQ(net::FindHeader(seen_.requests[3].headers, "Impersonate-User"), "eve");
  EXPECT_EQ(net::FindHeader(seen_.requests[3].headers, "Sec-WebSocket-Protocol"), "p");
  EXPECT_EQ(pauses_, (std::vector<base::Duration>{std::chrono::seconds(2)}));
}

TEST_F(KubernetesTransportTest, ChangedAuthoritiesAreTriedAtOnce) {
  char path[] = "/tmp/muster-ca-XXXXXX";
  const base::Fd file(::mkstemp(path));
  const auto write = [&path](std::string_view text) {
    ASSERT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
  };
  const base::Error untrusted{base::Code::kInvalidArgument, "not trusted", 0};
  const auto pem_of = [](const char* name) {
    return net::MakeAuthority(name, base::SystemClock().Now(), std::chrono::hours(1))->certificate;
  };
  const std::string one = pem_of("one");
  const std::string two = pem_of("two");
  write(one);
  Credentials::Options options;
  options.selection.cluster.ca_file = path;
  const auto transport =
      KubernetesTransport(std::make_unique<FakeHttp>(seen_),
                          std::make_unique<Credentials>(std::move(options), clock_), {});
  Queue(200);
  ASSERT_TRUE(transport->Send(Request()));
  EXPECT_EQ(seen_.ca_pem, one);
  seen_.failure = untrusted;
  EXPECT_FALSE(transport->Send(Request()));
  EXPECT_EQ(seen_.requests.size(), 2U);
  write(two);
  seen_.failure = untrusted;
  Queue(200);
  EXPECT_TRUE(transport->Open(Request()));
  EXPECT_EQ(seen_.ca_pem, two);
  EXPECT_EQ(seen_.requests.size(), 4U);
  ::unlink(path);
}

TEST_F(KubernetesTransportTest, AnswersInTheOrderOfTheRequests) {
  Queue(201);
  Queue(503, {{"Retry-After", "0"}});
  Queue(203);
  Queue(202);  // the second, asked again
  const net::HttpRequest requests[] = {Request(), Request(), Request()};
  const auto answers = transport_->SendAll(requests);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]->status, 201);
  EXPECT_EQ(answers[1]->status, 202);
  EXPECT_EQ(answers[2]->status, 203);
}

}  // namespace
}  // namespace cluster

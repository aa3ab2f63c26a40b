#include "controller/operator/http.h"

#include <gtest/gtest.h>

#include "net/client/client.h"
#include "net/testing/ignoring_responder.h"

namespace controller {
namespace {

class FakeResponder final : public net::IgnoringResponder {
 public:
  void Send(net::HttpResponse response) override { sent = std::move(response); }

  net::HttpResponse sent;
};

net::HttpResponse Ask(const net::HttpHandler& handler, std::string target) {
  const auto responder = std::make_shared<FakeResponder>();
  handler({"GET", std::move(target), {}, "", {}}, responder);
  return responder->sent;
}

TEST(OperatorHttp, IsReadyWhenEveryCheckIs) {
  Readiness readiness;
  const net::HttpHandler handler = ProbeHandler(readiness);
  EXPECT_EQ(Ask(handler, "/readyz?verbose").status, 200);
  bool has_lists = false;
  readiness.Add("lists", [&]() -> base::Status {
    if (has_lists) return {};
    return base::Fail(base::Code::kUnavailable, "not complete yet");
  });
  EXPECT_EQ(Ask(handler, "/readyz").status, 503);
  EXPECT_EQ(Ask(handler, "/readyz").body, "[-]lists: not complete yet\n");
  EXPECT_EQ(Ask(handler, "/healthz").status, 200);
  has_lists = true;
  EXPECT_EQ(Ask(handler, "/readyz").body, "ok");
  EXPECT_EQ(Ask(handler, "/metrics").status, 404);
}

TEST(OperatorHttp, ANoteIsShownAndKeepsItReady) {
  Readiness readiness;
  readiness.AddNote("webhook", []() -> base::Status {
    return base::Fail(base::Code::kPermissionDenied, "not watched");
  });
  const net::HttpHandler handler = ProbeHandler(readiness);
  EXPECT_EQ(Ask(handler, "/readyz").status, 200);
  EXPECT_EQ(Ask(handler, "/readyz").body, "ok\n[!]webhook: not watched\n");
}

TEST(OperatorHttp, ServesMetricsAsPrometheusReadsThem) {
  const net::HttpResponse answer = Ask(MetricsHandler([] { return "up 1\n"; }), "/metrics");
  EXPECT_EQ(answer.body, "up 1\n");
  EXPECT_EQ(net::FindHeader(answer.headers, "content-type"),
            "text/plain; version=0.0.4; charset=utf-8");
}

TEST(OperatorHttp, AnAddressThatIsNoneIsNamedByItsFlag) {
  const auto wrong = OperatorServer::Start("metrics-bind-address", "8080", {});
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().message.starts_with("--metrics-bind-address: "))
      << wrong.error().message;
  const auto none = OperatorServer::Start("metrics-bind-address", "0", {});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace controller

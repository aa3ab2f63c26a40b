#include "cluster/transport.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <thread>

#include "api/resources.h"
#include "base/file.h"
#include "cluster/client.h"
#include "cluster/testing/fake_server.h"
#include "net/http/server.h"

namespace cluster {
namespace {

using ResponderPtr = std::shared_ptr<net::Responder>;

void Echo(net::HttpRequest request, const ResponderPtr& responder) {
  responder->Send({200,
                   {},
                   request.method + " " + request.target + " " +
                       std::string(net::FindHeader(request.headers, "X-Extra"))});
}

TEST(InProcessTransport, WaitsForAnAnswerFromAnotherThread) {
  std::thread answerer;
  const auto transport = InProcessTransport([&](net::HttpRequest, ResponderPtr responder) {
    answerer = std::thread([r = std::move(responder)] { r->Send({201, {{"A", "b"}}, "done"}); });
  });
  const auto response = transport->Send({"GET", "/", {}, ""});
  answerer.join();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->headers, (net::Headers{{"A", "b"}}));
  EXPECT_EQ(response->body, "done");
}

TEST(InProcessTransport, CarriesValuesInPlaceOfTexts) {
  const text::Json object = text::Object{{"metadata", text::Object{{"name", "a"}}}};
  Client client(InProcessTransport([&](const net::HttpRequest& request, const ResponderPtr& to) {
    EXPECT_EQ(request.body, "");
    ASSERT_TRUE(request.parsed);
    EXPECT_EQ(*request.parsed, object);
    const auto answer = std::make_shared<const text::Json>(text::Object{{"is", "known"}});
    to->Send({201, {}, "not parsed", answer});
  }));
  const auto made = client.Create(api::kPods, "team", object);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(text::ToJson(*made), R"({"is":"known"})");
}

TEST(InProcessTransport, GathersAStreamedAnswerForSend) {
  const auto transport = InProcessTransport([](net::HttpRequest, const ResponderPtr& responder) {
    responder->Start(200, {});
    responder->Write("one ");
    responder->Write(std::string(100'000, 'x'));
    responder->Write(" two");
    responder->Finish();
  });
  const auto response = transport->Send({"GET", "/", {}, ""});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "one " + std::string(100'000, 'x') + " two");
}

TEST(InProcessTransport, ReportsAnAnswerThatIsDropped) {
  const auto silent = InProcessTransport([](net::HttpRequest, const ResponderPtr&) {});
  EXPECT_EQ(silent->Send({"GET", "/", {}, ""})->status, 500);
  const auto broken = InProcessTransport([](net::HttpRequest, const ResponderPtr& responder) {
    responder->Start(200, {});
    responder->Write("half");
  });
  EXPECT_EQ(broken->Send({"GET", "/", {}, ""}).error().code, base::Code::kUnavailable);
}

TEST(InProcessTransport, SendsAllBeforeItWaits) {
  std::vector<ResponderPtr> waiting;
  const auto transport = InProcessTransport([&](net::HttpRequest, ResponderPtr responder) {
    waiting.push_back(std::move(responder));
    if (waiting.size() < 3) return;
    for (size_t i = 3; i-- > 0;) waiting[i]->Send({200, {}, std::to_string(i)});
  });
  const std::vector<net::HttpRequest> requests(3, {"GET", "/", {}, ""});
  const auto responses = transport->SendAll(requests);
  ASSERT_EQ(responses.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(responses[i]->body, std::to_string(i));
}

TEST(InProcessTransport, ClosesTheStreamOfAReaderThatLeaves) {
  ResponderPtr kept;
  const auto transport = InProcessTransport([&](net::HttpRequest, ResponderPtr responder) {
    responder->Start(200, {});
    kept = std::move(responder);
  });
  auto stream = transport->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream);
  std::atomic<bool> is_closed = false;
  kept->OnClose([&] { is_closed = true; });
  kept->Write("four");
  EXPECT_EQ(kept->PendingBytes(), 4U);
  EXPECT_EQ((*stream)->Read()->value(), "four");
  EXPECT_EQ(kept->PendingBytes(), 0U);
  stream->reset();
  EXPECT_TRUE(is_closed);
  EXPECT_TRUE(kept->IsClosed());
}

TEST(InProcessTransport, CancelWakesARead) {
  ResponderPtr kept;
  const auto transport = InProcessTransport([&](net::HttpRequest, ResponderPtr responder) {
    responder->Start(200, {});
    kept = std::move(responder);
  });
  auto stream = transport->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream);
  std::thread canceller([&] { (*stream)->Cancel(); });
  const auto bytes = (*stream)->Read();
  canceller.join();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::Code::kCancelled);
  EXPECT_TRUE(kept->IsClosed());
}

TEST(UnixTransport, SendsOverTheSocketWithItsHeaders) {
  char directory[] = "/tmp/muster-cluster-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/s";
  auto server = net::HttpServer::ListenUnix(path, Echo);
  ASSERT_TRUE(server) << server.error().message;
  std::thread thread([&] { (*server)->Run(); });
  {
    const auto transport = UnixTransport(path, {{"X-Extra", "e"}});
    EXPECT_EQ(transport->Send({"GET", "/a", {}, ""})->body, "GET /a e");
    const std::vector<net::HttpRequest> requests = {{"GET", "/b", {}, ""}, {"PUT", "/c", {}, ""}};
    const auto responses = transport->SendAll(requests);
    EXPECT_EQ(responses.at(0)->body, "GET /b e");
    EXPECT_EQ(responses.at(1)->body, "PUT /c e");
    const auto stream = transport->Open({"GET", "/d", {}, ""});
    ASSERT_TRUE(stream);
    EXPECT_EQ((*stream)->Read()->value(), "GET /d e");
  }
  (*server)->Stop();
  thread.join();
  server->reset();
  EXPECT_TRUE(base::RemoveTree(directory));
}

}  // namespace
}  // namespace cluster

#include "net/client/client.h"

#include <fmt/format.h>

#include <future>

#include "net/testing/server_fixture.h"

namespace net {
namespace {

using HttpClientTest = ServerFixture;
using ResponderPtr = std::shared_ptr<Responder>;

TEST_F(HttpClientTest, ReportsThatNobodyListens) {
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, base::Code::kUnavailable);
  const auto stream = client_->Open({"GET", "/", {}, ""});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, base::Code::kUnavailable);
}

TEST_F(HttpClientTest, GivesUpWhenNoAnswerComes) {
  ResponderPtr kept;
  Serve([&](HttpRequest, ResponderPtr responder) { kept = std::move(responder); });
  const auto client = HttpClient::Unix(path_, std::chrono::milliseconds(1));
  const auto response = client->Send({"GET", "/", {}, ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, base::Code::kTimeout);
  const auto stream = client->Open({"GET", "/", {}, ""});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, base::Code::kTimeout);
  StopServer();
}

TEST_F(HttpClientTest, SendsAgainWhenAKeptConnectionTurnsOutClosed) {
  const auto answer = [](HttpRequest, const ResponderPtr& responder) {
    responder->Send({200, {}, "hi"});
  };
  Serve(answer);
  ASSERT_TRUE(client_->Send({"GET", "/", {}, ""}));
  StopServer();
  EXPECT_FALSE(client_->Send({"GET", "/", {}, ""}));
  Serve(answer);
  const auto response = client_->Send({"POST", "/", {}, "x"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "hi");
}

// Answers one request on each connection; what comes second on it is read, and then it hangs up.
class HangsUp {
 public:
  explicit HangsUp(const std::string& path) : listener_(*ListenOnUnixPath(path)) {
    thread_ = std::thread([this] {
      while (!is_over_) {
        const base::Fd peer = Next();
        for (int i = 0; peer && i < 2; ++i) {
          char buffer[4096];
          pollfd readable{peer.get(), POLLIN, 0};
          ::poll(&readable, 1, -1);
          if (::recv(peer.get(), buffer, sizeof buffer, 0) <= 0) break;
          ++requests;
          constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
          if (i == 0) (void)::send(peer.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        }
      }
    });
  }
  ~HangsUp() { thread_.join(); }
  void End(const std::string& path) {
    is_over_ = true;
    const RawPeer last(path);
  }

  std::atomic<int> requests = 0;

 private:
  base::Fd Next() const {
    pollfd waiting{listener_.get(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
    return base::Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  const base::Fd listener_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// Whoever hangs up after he has read a request may have carried it out.
TEST_F(HttpClientTest, RepeatsOnlyWhatMayBeDoneTwice) {
  HangsUp server(path_);
  for (const char* method : {"POST", "PATCH"}) {
    const int before = server.requests;
    ASSERT_TRUE(client_->Send({"GET", "/", {}, ""}));
    const auto response = client_->Send({method, "/", {}, "x"});
    ASSERT_FALSE(response) << method;
    EXPECT_EQ(response.error().code, base::Code::kUnavailable);
    EXPECT_EQ(server.requests, before + 2) << method;
  }
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    client_ = HttpClient::Unix(path_, kTestPatience);
    ASSERT_TRUE(client_->Send({"GET", "/", {}, ""}));
    EXPECT_TRUE(client_->Send({method, "/", {}, ""})) << method;
  }
  client_.reset();
  server.End(path_);
}

TEST_F(HttpClientTest, SendsManyAtOnceAndKeepsTheirOrder) {
  std::mutex mutex;
  std::vector<std::pair<std::string, ResponderPtr>> waiting;
  Serve([&](HttpRequest request, ResponderPtr responder) {
    const std::lock_guard lock(mutex);
    waiting.emplace_back(request.target, std::move(responder));
    if (waiting.size() % 10 != 0) return;  // ten are under way together, or this hangs
    for (auto it = waiting.rbegin(); it != waiting.rend(); ++it) {
      it->second->Send({200, {}, it->first});
    }
    waiting.clear();
  });
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 10; ++i) requests.push_back({"GET", fmt::format("/{}", i), {}, ""});
  const auto responses = client_->SendAll(requests);
  ASSERT_EQ(responses.size(), 10U);
  for (size_t i = 0; i < responses.size(); ++i) {
    ASSERT_TRUE(responses[i]) << responses[i].error().message;
    EXPECT_EQ(responses[i]->body, requests[i].target);
  }
}

TEST_F(HttpClientTest, SendsMoreThanItHasConnectionsFor) {
  Serve([](HttpRequest request, const ResponderPtr& responder) {
    responder->Send({200, {}, request.target + request.body});
  });
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 300; ++i) {
    requests.push_back({"PUT", fmt::format("/{}", i), {}, std::string(100'000, 'x')});
  }
  const auto responses = client_->SendAll(requests);
  ASSERT_EQ(responses.size(), 300U);
  for (size_t i = 0; i < responses.size(); ++i) {
    ASSERT_TRUE(responses[i]) << responses[i].error().message;
    EXPECT_EQ(responses[i]->body, requests[i].target + requests[i].body);
  }
}

TEST_F(HttpClientTest, ServesManyThreads) {
  Serve([](HttpRequest request, const ResponderPtr& responder) {
    responder->Send({200, {}, std::move(request.body)});
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string body = fmt::format("{} {}", t, i);
        const auto response = client_->Send({"POST", "/", {}, body});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->body, body);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(HttpClientTest, RefusesTargetsThatWouldBreakTheRequestLine) {
  Serve([](HttpRequest, const ResponderPtr& responder) { responder->Send({}); });
  for (const char* target : {"", "/a b", "/a\r\nX: y", "/\xc3\xa4"}) {
    const auto response = client_->Send({"GET", target, {}, ""});
    ASSERT_FALSE(response) << target;
    EXPECT_EQ(response.error().code, base::Code::kInvalidArgument);
  }
}

TEST_F(HttpClientTest, StreamsABodyAsItComes) {
  std::promise<ResponderPtr> asked;
  Serve([&](HttpRequest, ResponderPtr responder) {
    responder->Start(201, {{"A", "b"}});
    asked.set_value(std::move(responder));
  });
  auto stream = client_->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ((*stream)->status(), 201);
  EXPECT_EQ(FindHeader((*stream)->headers(), "a"), "b");
  const ResponderPtr responder = asked.get_future().get();
  for (const char* text : {"one", "two"}) {
    responder->Write(text);
    const auto bytes = (*stream)->Read();
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->value(), text);
  }
  responder->Finish();
  for (int i = 0; i < 2; ++i) {
    const auto end = (*stream)->Read();
    ASSERT_TRUE(end);
    EXPECT_FALSE(end->has_value());
  }
}

TEST_F(HttpClientTest, StreamsAnAnswerThatIsWholeAtOnce) {
  Serve([](HttpRequest, const ResponderPtr& responder) { responder->Send({404, {}, "gone"}); });
  auto stream = client_->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->status(), 404);
  EXPECT_EQ((*stream)->Read()->value(), "gone");
  EXPECT_FALSE((*stream)->Read()->has_value());
}

TEST_F(HttpClientTest, CancelWakesARead) {
  std::promise<ResponderPtr> asked;
  Serve([&](HttpRequest, ResponderPtr responder) {
    responder->Start(200, {});
    asked.set_value(std::move(responder));
  });
  auto stream = client_->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream);
  std::thread canceller([&] { (*stream)->Cancel(); });
  const auto bytes = (*stream)->Read();
  canceller.join();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::Code::kCancelled);
  EXPECT_FALSE((*stream)->Read());
  std::promise<void> closed;
  asked.get_future().get()->OnClose([&] { closed.set_value(); });
  stream->reset();
  closed.get_future().get();
}

TEST_F(HttpClientTest, ReportsAStreamThatBreaksOff) {
  ResponderPtr kept;
  Serve([&](HttpRequest, ResponderPtr responder) {
    responder->Start(200, {});
    kept = std::move(responder);
  });
  auto stream = client_->Open({"GET", "/", {}, ""});
  ASSERT_TRUE(stream);
  StopServer();
  const auto bytes = (*stream)->Read();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::Code::kUnavailable);
}

// A server that says what a test tells it to, once.
class ScriptedServer {
 public:
  ScriptedServer(const std::string& path, std::string answer)
      : listener_(std::move(*ListenOnUnixPath(path))), thread_([this, text = std::move(answer)] {
          pollfd ready{listener_.get(), POLLIN, 0};
          if (::poll(&ready, 1, 60'000) != 1) return;
          const base::Fd peer(::accept(listener_.get(), nullptr, nullptr));
          char request[4096];
          EXPECT_GT(::recv(peer.get(), request, sizeof request, 0), 0);
          EXPECT_EQ(::send(peer.get(), text.data(), text.size(), 0),
                    static_cast<ssize_t>(text.size()));
        }) {}
  ~ScriptedServer() { thread_.join(); }

 private:
  const base::Fd listener_;
  std::thread thread_;
};

TEST_F(HttpClientTest, ReadsABodyToTheClose) {
  const ScriptedServer server(path_, "HTTP/1.0 200 OK\r\n\r\nto the end");
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "to the end");
}

TEST_F(HttpClientTest, ReadsOverInterimAnswers) {
  const ScriptedServer server(path_,
                              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n"
                              "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hi");
}

TEST_F(HttpClientTest, ReportsAnAnswerThatBreaksOffAndOneThatIsNone) {
  {
    const ScriptedServer server(path_, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
    const auto response = client_->Send({"GET", "/", {}, ""});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, base::Code::kUnavailable);
  }
  const ScriptedServer server(path_, "SSH-2.0-OpenSSH_9.2\r\n\r\n");
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace net

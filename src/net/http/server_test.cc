#include "net/http/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "net/testing/server_fixture.h"

namespace net {
namespace {

using HttpServerTest = ServerFixture;
using ResponderPtr = std::shared_ptr<Responder>;

void Echo(HttpRequest request, const ResponderPtr& responder) {
  responder->Send({200, {}, request.method + " " + request.target + " " + request.body});
}

// Takes the requests that a handler gets to the test's thread.
class Inbox {
 public:
  HttpHandler Handler() {
    return [this](HttpRequest, ResponderPtr responder) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(responder));
      changed_.notify_all();
    };
  }
  ResponderPtr Next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestPatience, [this] { return !waiting_.empty(); })) {
      return nullptr;
    }
    ResponderPtr responder = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return responder;
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ResponderPtr> waiting_;
};

std::future<void> WhenClosed(Responder& responder) {
  auto closed = std::make_shared<std::promise<void>>();
  responder.OnClose([closed] { closed->set_value(); });
  return closed->get_future();
}

bool IsReady(const std::future<void>& future) {
  return future.wait_for(kTestPatience) == std::future_status::ready;
}

TEST_F(HttpServerTest, KeepsTheConnectionForTheNextRequest) {
  Serve(Echo);
  RawPeer peer(path_);
  for (int i = 0; i < 3; ++i) {
    peer.Send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
    EXPECT_EQ(peer.ReadUntil("hi"), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPUT /a hi");
  }
}

TEST_F(HttpServerTest, ClosesWhenThePeerAsksForIt) {
  Serve(Echo);
  RawPeer peer(path_);
  peer.Send("GET /a HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(peer.ReadToClose(),
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nGET /a ");
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderOneAtATime) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n");
  for (const char* body : {"one", "two", "three"}) {
    const ResponderPtr responder = inbox.Next();
    ASSERT_TRUE(responder);
    EXPECT_EQ(inbox.size(), 0U);
    responder->Send({200, {}, body});
    EXPECT_TRUE(peer.ReadUntil(body).ends_with(body));
  }
}

TEST_F(HttpServerTest, AnswersAFloodOfPipelinedRequests) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  std::string flood;
  int count = 0;
  for (; flood.size() < 400'000; ++count) {
    flood += fmt::format("GET /{} HTTP/1.1\r\nX-Filling: {}\r\n\r\n", count, std::string(900, 'x'));
  }
  std::thread sender([&] { EXPECT_TRUE(peer.Send(flood)); });
  for (int i = 0; i < count; ++i) {
    const ResponderPtr responder = inbox.Next();
    ASSERT_TRUE(responder) << i;
    responder->Send({200, {}, "done"});
    EXPECT_TRUE(peer.ReadUntil("done").ends_with("done"));
  }
  sender.join();
}

TEST_F(HttpServerTest, NoticesAHangUpBehindAFloodOfRequests) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  auto closed = WhenClosed(*responder);
  peer.Send(std::string(150'000, 'x'));
  peer.Close();
  EXPECT_TRUE(IsReady(closed));
}

TEST_F(HttpServerTest, AnswersHeadWithoutTheBody) {
  Serve([](HttpRequest, const ResponderPtr& responder) { responder->Send({200, {}, "12345"}); });
  RawPeer peer(path_);
  peer.Send("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(peer.ReadToClose(),
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
}

TEST_F(HttpServerTest, SendsNoBodyWhereNoneMayBe) {
  Serve([](HttpRequest, const ResponderPtr& responder) { responder->Send({204, {}, "12345"}); });
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(HttpServerTest, StreamsInChunks) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  responder->Start(200, {{"A", "b"}});
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n");
  responder->Write("hello");
  EXPECT_EQ(peer.ReadUntil("hello\r\n"), "5\r\nhello\r\n");
  responder->Write("");
  responder->Write("you");
  EXPECT_EQ(peer.ReadUntil("you\r\n"), "3\r\nyou\r\n");
  auto closed = WhenClosed(*responder);
  responder->Finish();
  EXPECT_EQ(peer.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_TRUE(IsReady(closed));
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  inbox.Next()->Send({200, {}, "x"});
  EXPECT_TRUE(peer.ReadUntil("x").starts_with("HTTP/1.1 200 OK\r\nContent-Length: 1"));
}

TEST_F(HttpServerTest, StreamsToTheCloseForHttp10) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  responder->Start(200, {});
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  responder->Write("hello");
  responder->Finish();
  EXPECT_EQ(peer.ReadToClose(), "hello");
}

TEST_F(HttpServerTest, ContinuesAPeerThatWaitsWithItsBody) {
  Serve(Echo);
  RawPeer peer(path_);
  peer.Send("PUT /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.Send("hi");
  EXPECT_TRUE(peer.ReadUntil("PUT /a hi").starts_with("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, AnswersForAHandlerThatDropsTheRequest) {
  Serve([](HttpRequest, const ResponderPtr&) {});
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 500);
}

TEST_F(HttpServerTest, BreaksTheConnectionOfAStreamWhoseProducerWentAway) {
  Serve([](HttpRequest, const ResponderPtr& responder) {
    responder->Start(200, {});
    responder->Write("half a");
  });
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, base::Code::kUnavailable);
}

TEST_F(HttpServerTest, NoticesAPeerThatLeavesAnIdleStream) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET /watch HTTP/1.1\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  responder->Start(200, {});
  peer.ReadUntil("\r\n\r\n");
  auto closed = WhenClosed(*responder);
  EXPECT_FALSE(responder->IsClosed());
  peer.Close();
  EXPECT_TRUE(IsReady(closed));
  EXPECT_TRUE(responder->IsClosed());
  responder->Write("into the void");
  EXPECT_EQ(responder->PendingBytes(), 0U);
}

TEST_F(HttpServerTest, NoticesAPeerThatLeavesBeforeItsAnswer) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  auto closed = WhenClosed(*responder);
  peer.Close();
  EXPECT_TRUE(IsReady(closed));
  responder->Send({200, {}, "late"});
}

TEST_F(HttpServerTest, RefusesWhatIsMalformedOrTooLarge) {
  Serve(Echo);
  const std::string long_header = "GET / HTTP/1.1\r\nA: " + std::string(70'000, 'a');
  const std::string long_body =
      fmt::format("PUT / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", kMaxBodyBytes + 1);
  for (const auto& [text, status] : {std::pair<std::string, std::string>{"nonsense\r\n\r\n", "400"},
                                     {long_header, "431"},
                                     {long_body, "413"}}) {
    RawPeer peer(path_);
    peer.Send(text);
    EXPECT_TRUE(peer.ReadToClose().starts_with("HTTP/1.1 " + status)) << status;
  }
  const auto response = client_->Send({"GET", "/", {}, ""});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
}

TEST_F(HttpServerTest, ReportsAClientThatSendsTooMuch) {
  Serve(Echo);
  const auto response = client_->Send({"PUT", "/", {}, std::string(kMaxBodyBytes + 1, 'x')});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
  const auto most = client_->Send({"PUT", "/", {}, std::string(kMaxBodyBytes, 'x')});
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->body.size(), kMaxBodyBytes + 6);
}

TEST_F(HttpServerTest, GivesUpOnARequestThatStaysHalfSent) {
  HttpServerOptions options;
  options.request_timeout = std::chrono::milliseconds(1);
  Serve(Echo, options);
  for (const char* text : {"GET / HT", "PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"}) {
    RawPeer peer(path_);
    peer.Send(text);
    EXPECT_TRUE(peer.ReadToClose().starts_with("HTTP/1.1 408"));
  }
}

// As a TLS listener hands on what it has decrypted.
class Guest {
 public:
  explicit Guest(HttpServer& server) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    fd_ = base::Fd(ends[0]);
    server.Adopt(base::Fd(ends[1]), nullptr);
  }
  void Send(std::string_view text) const {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  std::string ReadToClose() const {
    std::string text;
    char buffer[4096];
    pollfd waiting{fd_.get(), POLLIN, 0};
    while (::poll(&waiting, 1, static_cast<int>(kTestPatience.count() * 1000)) == 1) {
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) return text;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text + "(still open)";
  }

 private:
  base::Fd fd_;
};

TEST_F(HttpServerTest, AGuestThatSaysNothingIsClosed) {
  HttpServerOptions options;
  options.first_byte_timeout = std::chrono::milliseconds(1);
  options.idle_timeout = std::chrono::milliseconds(1);
  Serve(Echo, options);
  RawPeer own(path_);
  own.Send("GET /a HTTP/1.1\r\n\r\n");
  own.ReadUntil("GET /a ");
  EXPECT_EQ(Guest(*server_).ReadToClose(), "");
  // The Unix socket's peers are its owner's: they may wait.
  own.Send("GET /b HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(own.ReadUntil("GET /b ").ends_with("GET /b "));
}

TEST_F(HttpServerTest, AGuestIsClosedBetweenRequestsNotWhileOneIsAnswered) {
  HttpServerOptions options;
  options.idle_timeout = std::chrono::milliseconds(1);
  Inbox inbox;
  Serve(inbox.Handler(), options);
  const Guest quiet(*server_);
  const Guest guest(*server_);
  guest.Send("GET /a HTTP/1.1\r\n\r\n");
  const ResponderPtr slow = inbox.Next();
  quiet.Send("GET /b HTTP/1.1\r\n\r\n");
  inbox.Next()->Send({200, {}, "b"});
  EXPECT_TRUE(quiet.ReadToClose().ends_with("\r\n\r\nb"));  // by now it would have been closed
  slow->Send({200, {}, "a"});
  EXPECT_TRUE(guest.ReadToClose().ends_with("\r\n\r\na"));
}

TEST_F(HttpServerTest, KeepsRoomForItsOwnSocket) {
  HttpServerOptions options;
  options.max_connections = 2;
  Serve(Echo, options);
  const Guest first(*server_);
  const Guest second(*server_);
  EXPECT_EQ(second.ReadToClose(), "");
  RawPeer own(path_);
  own.Send("GET /a HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(own.ReadUntil("GET /a ").ends_with("GET /a "));
}

TEST_F(HttpServerTest, AnAnswerMayCloseTheConnection) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  inbox.Next()->Send({401, {{"Connection", "close"}}, "no"});
  EXPECT_TRUE(peer.ReadToClose().ends_with("\r\n\r\nno"));
}

TEST_F(HttpServerTest, AStreamCutShortGivesItsMemoryBack) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.0\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  responder->Start(200, {});
  peer.ReadUntil("\r\n\r\n");
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 200; ++i) responder->Write(piece);
  auto closed = WhenClosed(*responder);
  responder->CutShort("too slow\n");
  EXPECT_LT(responder->PendingBytes(), 2U << 20);
  const std::string body = peer.ReadToClose();
  EXPECT_EQ(body.size() % piece.size(), std::string("too slow\n").size());
  EXPECT_TRUE(body.ends_with("xtoo slow\n"));
  EXPECT_TRUE(IsReady(closed));
}

TEST_F(HttpServerTest, ClosesConnectionsOverTheLimit) {
  HttpServerOptions options;
  options.max_connections = 1;
  Serve(Echo, options);
  RawPeer first(path_);
  first.Send("GET /a HTTP/1.1\r\n\r\n");
  first.ReadUntil("GET /a ");
  RawPeer second(path_);
  EXPECT_EQ(second.ReadToClose(), "");
  first.Send("GET /b HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(first.ReadUntil("GET /b ").ends_with("GET /b "));
}

TEST_F(HttpServerTest, ASlowReaderIsSeenInPendingBytes) {
  constexpr size_t kLimit = 1 << 20;
  const std::string piece(10'000, 'x');
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.0\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  responder->Start(200, {});
  const std::string head = peer.ReadUntil("\r\n\r\n");
  // The kernel takes its part, then no more.
  size_t written = 0;
  while (responder->PendingBytes() < kLimit) {
    responder->Write(piece);
    written += piece.size();
  }
  std::promise<size_t> pending;
  server_->Post([&] { pending.set_value(responder->PendingBytes()); });
  EXPECT_GE(pending.get_future().get() + (512 << 10), kLimit);
  auto closed = WhenClosed(*responder);
  responder->Finish();
  EXPECT_EQ(peer.ReadToClose().size(), written);
  EXPECT_TRUE(IsReady(closed));
}

TEST_F(HttpServerTest, CarriesManyOpenStreams) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr size_t kStreams = 1000;
  if (limit.rlim_max < 4 * kStreams) GTEST_SKIP() << "too few file descriptors allowed";

  std::mutex mutex;
  std::vector<ResponderPtr> responders;
  Serve([&](HttpRequest, const ResponderPtr& responder) {
    responder->Start(200, {});
    const std::lock_guard lock(mutex);
    responders.push_back(responder);
  });
  std::vector<std::unique_ptr<BodyStream>> streams;
  for (size_t i = 0; i < kStreams; ++i) {
    auto stream = client_->Open({"GET", "/", {}, ""});
    ASSERT_TRUE(stream) << stream.error().message;
    streams.push_back(std::move(*stream));
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& responder : responders) responder->Write("event\n");
    for (const auto& stream : streams) {
      const auto bytes = stream->Read();
      ASSERT_TRUE(bytes) << bytes.error().message;
      EXPECT_EQ(bytes->value(), "event\n");
    }
  }
  for (const auto& responder : responders) responder->Finish();
  for (const auto& stream : streams) EXPECT_EQ(stream->Read()->has_value(), false);
}

TEST_F(HttpServerTest, StopLetsCompleteAnswersOutAndBreaksStreams) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer reader(path_);
  reader.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr whole = inbox.Next();
  RawPeer watcher(path_);
  watcher.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr stream = inbox.Next();
  stream->Start(200, {});
  watcher.ReadUntil("\r\n\r\n");
  auto closed = WhenClosed(*stream);

  const std::string body(3 << 20, 'x');  // more than the socket holds
  whole->Send({200, {}, body});
  server_->Stop();
  EXPECT_TRUE(reader.ReadToClose().ends_with("\r\n\r\n" + body));
  EXPECT_EQ(watcher.ReadToClose(), "");
  EXPECT_TRUE(IsReady(closed));
  thread_.join();
}

TEST_F(HttpServerTest, StopDoesNotWaitForPeersThatTakeNothing) {
  HttpServerOptions options;
  options.drain_timeout = std::chrono::milliseconds(1);
  Inbox inbox;
  Serve(inbox.Handler(), options);
  RawPeer reader(path_);
  reader.Send("GET / HTTP/1.1\r\n\r\n");
  inbox.Next()->Send({200, {}, std::string(3 << 20, 'x')});
  server_->Stop();
  thread_.join();
}

TEST_F(HttpServerTest, StopBeforeRunEndsRun) {
  auto server = HttpServer::ListenUnix(path_, Echo);
  ASSERT_TRUE(server);
  (*server)->Stop();
  (*server)->Run();
}

TEST_F(HttpServerTest, RespondersMayOutliveTheServer) {
  Inbox inbox;
  Serve(inbox.Handler());
  RawPeer peer(path_);
  peer.Send("GET / HTTP/1.1\r\n\r\n");
  const ResponderPtr responder = inbox.Next();
  StopServer();
  EXPECT_TRUE(responder->IsClosed());
  responder->Send({200, {}, "late"});
}

TEST_F(HttpServerTest, RunsPostedTasksOnItsThread) {
  Serve(Echo);
  std::promise<std::thread::id> ran;
  server_->Post([&] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(ran.get_future().get(), thread_.get_id());
}

}  // namespace
}  // namespace net

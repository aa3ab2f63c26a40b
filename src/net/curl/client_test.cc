#include "net/curl/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/guarded.h"
#include "net/curl/library.h"
#include "net/testing/loopback_server.h"

namespace net {
namespace {

// A server on a port of its own that does what a test says with each connection, one after another.
class TcpServer : public LoopbackServer {
 public:
  using Serve = std::function<void(int fd)>;

  explicit TcpServer(Serve serve)
      : LoopbackServer([serve = std::move(serve)](base::Fd peer) { serve(peer.get()); }) {}

  std::unique_ptr<CurlClient> Client(std::chrono::seconds idle = std::chrono::seconds(60),
                                     std::function<std::stop_token()> stop = {},
                                     size_t max_bytes = kMaxResponseBytes) const {
    CurlClientOptions options;
    options.max_response_bytes = max_bytes;
    options.stop = std::move(stop);
    options.url = *ParseUrl("http://" + authority());
    options.idle_timeout = idle;
    auto client = CurlClient::Create(std::move(options));
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }
};

std::string ReadRequest(int fd) {
  std::string text;
  char buffer[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

// With as much of a body as it says.
std::string ReadWithBody(int fd) {
  std::string text = ReadRequest(fd);
  const size_t end = text.find("\r\n\r\n") + 4;
  const size_t length = text.find("Content-Length: ");
  if (length == std::string::npos) return text;
  const size_t whole = end + std::stoul(text.substr(length + 16));
  char buffer[4096];
  while (text.size() < whole) {
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

bool Send(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

HttpRequest Get(std::string target = "/x") {
  return {.method = "GET", .target = std::move(target), .headers = {{"Accept", "a"}}, .body = {}};
}

TEST(CurlClient, SendsRequestsAndReadsAnswers) {
  std::string seen;
  const TcpServer server([&](int fd) {
    seen = ReadRequest(fd);
    Send(fd, "HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto client = server.Client();
  HttpRequest request = Get("/p?q=1");
  request.method = "PATCH";
  request.headers.emplace_back("Content-Type", "t");
  request.body = "{}";
  const auto answer = client->Send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(FindHeader(answer->headers, "x-a"), "b");
  EXPECT_EQ(answer->body, "ok");
  EXPECT_TRUE(seen.starts_with("PATCH /p?q=1 HTTP/1.1\r\n")) << seen;
  EXPECT_NE(seen.find("Content-Type: t\r\n"), std::string::npos);
  EXPECT_EQ(seen.find("Expect:"), std::string::npos);
}

HttpRequest Write(std::string method, std::string target, Headers headers, std::string body) {
  return {std::move(method), std::move(target), std::move(headers), std::move(body)};
}

// libcurl's handles serve one small write after another.
TEST(CurlClient, ARequestHasNothingOfTheOneBefore) {
  base::Guarded<std::string> received;
  const TcpServer server([&](int fd) {
    std::string request = ReadWithBody(fd);
    const bool is_broken = request.starts_with("POST /broken");
    *received.Lock() = std::move(request);
    if (is_broken) return;
    Send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto client = server.Client();
  const Headers type{{"Content-Type", "t"}};
  const HttpRequest requests[] = {
      Write("PATCH", "/a", {{"Content-Type", "merge"}, {"Authorization", "me"}}, "a long body"),
      Write("POST", "/b", type, "b"),
      Write("POST", "/broken", type, "x"),
      Write("POST", "/b2", type, "after what broke"),
      Write("DELETE", "/c", type, "{}"),
      Get("/d"),
      Write("PUT", "/e", type, std::string(100'000, 'e')),
      Write("POST", "/f", {{"Content-Type", "t"}, {"X-Empty", ""}}, "f"),
      Write("POST", "/g", {}, ""),
      Write("PATCH", "/h", type, std::string(16'000, 'h'))};
  for (const HttpRequest& request : requests) {
    if (request.target == "/f") client->UseAuthorities("");
    const auto answer = client->Send(request);
    EXPECT_EQ(answer.has_value(), request.target != "/broken");
    const std::string seen = *received.Lock();
    EXPECT_TRUE(seen.starts_with(request.method + " " + request.target + " HTTP/1.1\r\n")) << seen;
    EXPECT_EQ(seen.substr(seen.find("\r\n\r\n") + 4), request.body);
    const bool has_type = !FindHeader(request.headers, "Content-Type").empty();
    const bool has_form = seen.find("application/x-www-form-urlencoded") != std::string::npos;
    EXPECT_EQ(seen.find("Content-Type: t\r\n") != std::string::npos,
              has_type && request.target != "/a");
    EXPECT_EQ(has_form, request.target == "/g");
    EXPECT_EQ(seen.find("Authorization: me\r\n") != std::string::npos, request.target == "/a");
    EXPECT_EQ(seen.find("X-Empty:\r\n") != std::string::npos, request.target == "/f");
    EXPECT_EQ(seen.find("Expect:"), std::string::npos);
  }
}

// A file without a name, in the folder for temporary ones.
base::Fd FileOf(std::string_view content) {
  base::Fd fd(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  EXPECT_EQ(::pwrite(fd.get(), content.data(), content.size(), 0),
            static_cast<ssize_t>(content.size()));
  return fd;
}

HttpRequest Put() {
  return {.method = "PUT", .target = "/x", .headers = {{"Content-Type", "t"}}, .body = {}};
}

TEST(CurlClient_SendFile, SendsThePieceOfTheFile) {
  const std::string piece(3 << 20, 'p');
  std::string seen;
  const TcpServer server([&](int fd) {
    seen = ReadRequest(fd);
    const size_t whole = seen.find("\r\n\r\n") + 4 + piece.size();
    std::string buffer(1 << 16, '\0');
    while (seen.size() < whole) {
      const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) break;
      seen.append(buffer, 0, static_cast<size_t>(count));
    }
    Send(fd, "HTTP/1.1 200 OK\r\nETag: e\r\nContent-Length: 0\r\n\r\n");
  });
  const base::Fd file = FileOf("before" + piece + "after");
  const auto client = server.Client();
  const auto answer = client->SendFile(Put(), {file.get(), 6, piece.size()});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(FindHeader(answer->headers, "etag"), "e");
  EXPECT_TRUE(seen.starts_with("PUT /x HTTP/1.1\r\n")) << seen.substr(0, 200);
  EXPECT_NE(seen.find("Content-Length: " + std::to_string(piece.size()) + "\r\n"),
            std::string::npos);
  EXPECT_TRUE(seen.ends_with("\r\n\r\n" + piece));
}

TEST(CurlClient_SendFile, ReportsAFileThatIsTooShort) {
  const TcpServer server([&](int fd) {
    ReadRequest(fd);
    char rest[64];
    while (::recv(fd, rest, sizeof rest, 0) > 0) continue;
  });
  const base::Fd file = FileOf("short");
  const auto client = server.Client();
  const auto answer = client->SendFile(Put(), {file.get(), 2, 100});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kConflict);
}

TEST(CurlClient_SendFile, GivesTheAnswerThatComesBeforeTheBodyIsRead) {
  std::promise<void> answered;
  const TcpServer server([&](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    // To close with bytes unread would take the answer back on its way.
    answered.get_future().wait();
  });
  const base::Fd file = FileOf(std::string(8 << 20, 'x'));
  const auto client = server.Client();
  const auto answer = client->SendFile(Put(), {file.get(), 0, 8 << 20});
  answered.set_value();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 400);
}

TEST(CurlClient, RefusesRequestsThatHideAnother) {
  const TcpServer server([](int) {});
  const auto client = server.Client();
  for (const char* target : {"x", "/a b", "/a\r\nX: y"}) {
    EXPECT_EQ(client->Send(Get(target)).error().code, base::Code::kInvalidArgument) << target;
  }
  HttpRequest request = Get();
  request.headers.emplace_back("A", "b\r\nC: d");
  EXPECT_EQ(client->Send(request).error().code, base::Code::kInvalidArgument);
}

TEST(CurlClient, AnAnswerThatBreaksOffIsAnErrorUnlessItSaysOneItself) {
  const char* answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                           "HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nhalf"};
  size_t next = 0;
  const TcpServer server([&](int fd) {
    ReadRequest(fd);
    Send(fd, answers[next++ % 2]);
  });
  const auto client = server.Client();
  const auto cut = client->Send(Get());
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, base::Code::kUnavailable);
  const auto failed = client->Send(Get());
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(failed->status, 500);
  EXPECT_EQ(failed->body, "half");
}

TEST(CurlClient, AServerThatHangsIsGivenUp) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    ReadRequest(fd);  // until the client goes
  });
  const auto client = server.Client(std::chrono::seconds(1));
  EXPECT_EQ(client->Send(Get()).error().code, base::Code::kTimeout);
}

TEST(CurlClient, ARequestDoesNotWaitForAnotherThatIsNotAnswered) {
  base::Fd held;
  std::promise<void> is_held;
  const TcpServer server([&](int fd) {
    if (ReadRequest(fd).starts_with("GET /held")) {
      held = base::Fd(::dup(fd));
      return is_held.set_value();
    }
    Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto client = server.Client();
  auto first = std::async(std::launch::async, [&] { return client->Send(Get("/held")); });
  is_held.get_future().wait();
  const auto second = client->Send(Get("/other"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  Send(held.get(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(first.get());
}

TEST(CurlClient, SendAll_IfTheFirstFailsTheOthersStillGoTogether) {
  std::vector<base::Fd> held;
  const TcpServer server([&](int fd) {
    if (ReadRequest(fd).starts_with("GET /first")) return;
    held.emplace_back(::dup(fd));
    if (held.size() < 2) return;
    for (const base::Fd& each : held) {
      Send(each.get(), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  const auto client = server.Client(std::chrono::seconds(20));
  const std::vector<HttpRequest> all = {Get("/first"), Get("/second"), Get("/third")};
  const auto answers = client->SendAll(all);
  EXPECT_FALSE(answers[0]);
  EXPECT_TRUE(answers[1]) << answers[1].error().message;
  EXPECT_TRUE(answers[2]) << answers[2].error().message;
}

TEST(CurlClient, AStreamIsReadAsItComes) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
    Send(fd, "4\r\ntwo\n\r\n0\r\n\r\n");
  });
  const auto client = server.Client();
  const auto stream = client->Open(Get());
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ((*stream)->status(), 200);
  std::string text;
  while (true) {
    const auto bytes = (*stream)->Read();
    ASSERT_TRUE(bytes) << bytes.error().message;
    if (!*bytes) break;
    text += **bytes;
  }
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST(CurlClient, AStreamThatBreaksSaysSo) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  });
  const auto client = server.Client();
  const auto stream = client->Open(Get());
  ASSERT_TRUE(stream) << stream.error().message;
  base::Result<std::optional<std::string>> bytes = (*stream)->Read();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(**bytes, "one\n");
  bytes = (*stream)->Read();
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::Code::kUnavailable);
}

TEST(CurlClient, AStreamEndsWithItsLifetime) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    ReadRequest(fd);
  });
  const auto client = server.Client();
  HttpRequest request = Get();
  request.lifetime = std::chrono::milliseconds(200);
  const auto stream = client->Open(request);
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_FALSE((*stream)->Read());
}

TEST(CurlClient, AWholeAnswerIsGivenUpAfterItsLifetime) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    ReadRequest(fd);  // it never answers
  });
  const auto client = server.Client();
  HttpRequest request = Get();
  request.lifetime = std::chrono::milliseconds(200);
  const auto answer = client->Send(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kTimeout) << answer.error().message;
}

TEST(CurlClient, AnAnswerLongerThanItsLimitIsRefusedAndKeepsASecret) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  });
  const auto client = server.Client(std::chrono::seconds(60), {}, 2);
  HttpRequest request = Get();
  request.target = "/p/s3cret/n/x?sig=s3cret";
  const auto answer = client->Send(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kExhausted);
  EXPECT_EQ(answer.error().message.find("s3cret"), std::string::npos) << answer.error().message;
}

TEST(CurlClient, CancelWakesAReader) {
  const TcpServer server([](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    ReadRequest(fd);
  });
  const auto client = server.Client();
  const auto stream = client->Open(Get());
  ASSERT_TRUE(stream) << stream.error().message;
  std::thread canceller([&] { (*stream)->Cancel(); });
  EXPECT_EQ((*stream)->Read().error().code, base::Code::kCancelled);
  canceller.join();
}

TEST(CurlClient, Send_EndsWhenAStopIsRequested) {
  std::promise<void> asked;
  std::promise<void> ended;
  const TcpServer server([&, has_asked = false](int fd) mutable {
    ReadRequest(fd);
    if (std::exchange(has_asked, true)) {
      Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    asked.set_value();
    ended.get_future().wait();  // it never answers
  });
  std::stop_source stop;
  const auto client = server.Client(std::chrono::seconds(60), [&] { return stop.get_token(); });
  std::thread stopper([&] {
    asked.get_future().wait();
    stop.request_stop();
  });
  EXPECT_EQ(client->Send(Get()).error().code, base::Code::kCancelled);
  stopper.join();
  EXPECT_EQ(client->Send(Get()).error().code, base::Code::kCancelled);
  const std::vector<HttpRequest> both = {Get(), Get()};
  EXPECT_EQ(client->SendAll(both)[1].error().code, base::Code::kCancelled);
  ended.set_value();
  stop = {};
  const auto answer = client->Send(Get());
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(CurlClient, Send_AnErrorThatAStopCutIsNoAnswer) {
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    std::promise<void> ended;
    const TcpServer server([&](int fd) {
      ReadRequest(fd);
      Send(fd, "HTTP/1.1 409 Conflict\r\nContent-Length: 9\r\n\r\n{");
      stop.request_stop();
      ended.get_future().wait();
    });
    const auto client = server.Client(std::chrono::seconds(60), [&] { return stop.get_token(); });
    const auto answer = client->Send(Get());
    ended.set_value();
    ASSERT_FALSE(answer) << answer->status;
    EXPECT_EQ(answer.error().code, base::Code::kCancelled) << answer.error().message;
  }
}

TEST(CurlClient, AReaderThatIsSlowHoldsTheServerBack) {
  constexpr size_t kTotal = 256 << 20;
  std::promise<size_t> blocked_at;
  const TcpServer server([&](int fd) {
    ReadRequest(fd);
    Send(fd, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kTotal) + "\r\n\r\n");
    const timeval moment{0, 300'000};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
    const std::string piece(1 << 16, 'x');
    bool was_blocked = false;
    for (size_t sent = 0; sent < kTotal;) {
      const ssize_t count =
          ::send(fd, piece.data(), std::min(piece.size(), kTotal - sent), MSG_NOSIGNAL);
      if (count > 0) {
        sent += static_cast<size_t>(count);
      } else if (errno != EAGAIN) {
        break;
      } else if (!std::exchange(was_blocked, true)) {
        blocked_at.set_value(sent);
      }
    }
    if (!was_blocked) blocked_at.set_value(kTotal);
  });
  const auto client = server.Client();
  const auto stream = client->Open(Get());
  ASSERT_TRUE(stream) << stream.error().message;
  // The sockets' buffers and ours, far from all of it.
  EXPECT_LT(blocked_at.get_future().get(), kTotal / 4);
  size_t read = 0;
  while (true) {
    const auto bytes = (*stream)->Read();
    ASSERT_TRUE(bytes) << bytes.error().message;
    if (!*bytes) break;
    read += (*bytes)->size();
  }
  EXPECT_EQ(read, kTotal);
}

TEST(CurlLibrary, NamesThePackageWhenItIsMissing) {
  const auto missing = CurlLibrary::LoadFrom("libcurl-that-is-not-there.so.4");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("install the package libcurl4"), std::string::npos);
  const auto other = CurlLibrary::LoadFrom("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("cannot be used"), std::string::npos);
}

}  // namespace
}  // namespace net

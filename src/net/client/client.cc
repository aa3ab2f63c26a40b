#include "net/client/client.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "base/guarded.h"
#include "net/client/connection.h"
#include "net/socket/tcp.h"
#include "net/socket/unix.h"

namespace net {
namespace {

// How many connections are kept for later requests.
constexpr size_t kMaxKept = 32;
// How many requests SendAll sends at the same time.
constexpr size_t kMaxParallel = 32;
// The most that is read of the answer that refuses an upgrade.
constexpr size_t kMaxRefusalBytes = 1 << 20;

using OwnedConnection = std::unique_ptr<ClientConnection>;
using Clock = std::chrono::steady_clock;

// The answer to a request of Open, on its own connection.
class BlockingBodyStream final : public BodyStream {
 public:
  BlockingBodyStream(OwnedConnection connection, ClientConnection::Deadline deadline)
      : connection_(std::move(connection)),
        deadline_(deadline),
        status_(connection_->message().status),
        headers_(std::move(connection_->message().headers)) {}

  int status() const override { return status_; }
  const Headers& headers() const override { return headers_; }

  base::Result<std::optional<std::string>> Read() override {
    while (true) {
      if (is_cancelled_.load(std::memory_order_relaxed)) {
        return base::Fail(base::Code::kCancelled, "cancelled");
      }
      std::string& body = connection_->message().body;
      if (!body.empty()) return std::optional(std::exchange(body, {}));
      if (connection_->is_done()) return std::optional<std::string>();
      TRY(connection_->ReadSome(deadline_));
    }
  }

  void Cancel() override {
    is_cancelled_.store(true, std::memory_order_relaxed);
    connection_->Cancel();
  }

 private:
  const OwnedConnection connection_;
  const ClientConnection::Deadline deadline_;
  const int status_;
  const Headers headers_;
  std::atomic<bool> is_cancelled_{false};
};

class BlockingByteStream final : public ByteStream {
 public:
  explicit BlockingByteStream(OwnedConnection connection) : connection_(std::move(connection)) {}

  base::Result<std::optional<std::string>> Read() override { return connection_->ReadRaw(); }
  base::Status Write(std::string_view bytes) override { return connection_->WriteRaw(bytes); }
  void Cancel() override { connection_->Cancel(); }

 private:
  const OwnedConnection connection_;
};

class BlockingHttpClient final : public HttpClient {
 public:
  BlockingHttpClient(SocketSource connect, std::chrono::milliseconds timeout)
      : connect_(std::move(connect)), timeout_(timeout) {}

  base::Result<HttpResponse> Send(const HttpRequest& request) override;
  std::vector<base::Result<HttpResponse>> SendAll(std::span<const HttpRequest> requests) override;
  base::Result<std::unique_ptr<BodyStream>> Open(const HttpRequest& request) override;
  base::Result<UpgradeAnswer> Upgrade(const HttpRequest& request) override;

 private:
  // Connected to the server, perhaps long ago.
  struct Attempt {
    OwnedConnection connection;
    bool is_kept = false;
    Clock::time_point deadline;
  };

  OwnedConnection TakeKept();
  void Keep(OwnedConnection connection);
  // A cancellable connection on which the answer's headers have been read.
  base::Result<OwnedConnection> OpenConnection(const HttpRequest& request,
                                               Clock::time_point deadline, size_t body_limit);
  base::Result<Attempt> Begin(const HttpRequest& request);
  base::Result<Attempt> BeginAnew(const HttpRequest& request, Clock::time_point deadline);
  base::Result<HttpResponse> Complete(const HttpRequest& request, Attempt attempt);

  base::Result<OwnedConnection> ConnectAnew(std::chrono::milliseconds timeout) const;

  const SocketSource connect_;
  const std::chrono::milliseconds timeout_;
  base::Guarded<std::vector<OwnedConnection>> kept_;
};

// Whether carrying it out twice has the effect of once (RFC 9110, 9.2.2).
bool IsIdempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS";
}

bool IsSafeTarget(const HttpRequest& request) {
  const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
  return !request.method.empty() && !request.target.empty() &&
         std::all_of(request.method.begin(), request.method.end(), is_visible) &&
         std::all_of(request.target.begin(), request.target.end(), is_visible);
}

base::Result<OwnedConnection> BlockingHttpClient::ConnectAnew(
    std::chrono::milliseconds timeout) const {
  TRY_ASSIGN(auto socket, connect_(timeout));
  return ClientConnection::Over(std::move(socket));
}

// The connection that was kept last is most likely to be alive.
OwnedConnection BlockingHttpClient::TakeKept() {
  auto kept = kept_.Lock();
  while (!kept->empty()) {
    OwnedConnection connection = std::move(kept->back());
    kept->pop_back();
    if (connection->IsReusable()) return connection;
  }
  return nullptr;
}

void BlockingHttpClient::Keep(OwnedConnection connection) {
  if (!connection->IsReusable()) return;
  auto kept = kept_.Lock();
  if (kept->size() < kMaxKept) kept->push_back(std::move(connection));
}

base::Result<BlockingHttpClient::Attempt> BlockingHttpClient::Begin(const HttpRequest& request) {
  if (!IsSafeTarget(request)) {
    return base::Fail(base::Code::kInvalidArgument,
                      "malformed request: " + request.method + " " + request.target);
  }
  const auto deadline = Clock::now() + timeout_;
  if (Attempt attempt{TakeKept(), true, deadline}; attempt.connection) {
    TRY(attempt.connection->Write(request, kMaxResponseBytes, deadline));
    return attempt;
  }
  return BeginAnew(request, deadline);
}

base::Result<BlockingHttpClient::Attempt> BlockingHttpClient::BeginAnew(
    const HttpRequest& request, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  TRY_ASSIGN(OwnedConnection connection, ConnectAnew(left));
  Attempt attempt{std::move(connection), false, deadline};
  TRY(attempt.connection->Write(request, kMaxResponseBytes, deadline));
  return attempt;
}

base::Result<HttpResponse> BlockingHttpClient::Complete(const HttpRequest& request,
                                                        Attempt attempt) {
  ClientConnection* connection = attempt.connection.get();
  base::Status read = connection->ReadHeader(attempt.deadline);
  const bool has_closed = !read && attempt.is_kept && !connection->has_answer_begun() &&
                          read.error().code == base::Code::kUnavailable;
  if (has_closed && (IsIdempotent(request.method) || !connection->has_sent())) {
    TRY_ASSIGN(attempt, BeginAnew(request, attempt.deadline));
    connection = attempt.connection.get();
    read = connection->ReadHeader(attempt.deadline);
  }
  if (read) read = connection->ReadBody(attempt.deadline);
  if (!read) return base::Fail(read.error().Wrap(request.method + " " + request.target));

  MessageParser::Message& message = connection->message();
  HttpResponse response{message.status, std::move(message.headers), std::move(message.body)};
  Keep(std::move(attempt.connection));
  return response;
}

base::Result<HttpResponse> BlockingHttpClient::Send(const HttpRequest& request) {
  TRY_ASSIGN(Attempt attempt, Begin(request));
  return Complete(request, std::move(attempt));
}

std::vector<base::Result<HttpResponse>> BlockingHttpClient::SendAll(
    std::span<const HttpRequest> requests) {
  std::vector<base::Result<HttpResponse>> responses;
  responses.reserve(requests.size());
  while (!requests.empty()) {
    const auto wave = requests.first(std::min(requests.size(), kMaxParallel));
    std::vector<base::Result<Attempt>> attempts;
    attempts.reserve(wave.size());
    for (const HttpRequest& request : wave) attempts.push_back(Begin(request));
    for (size_t i = 0; i < wave.size(); ++i) {
      if (attempts[i]) {
        responses.push_back(Complete(wave[i], std::move(*attempts[i])));
      } else {
        responses.push_back(base::Fail(std::move(attempts[i].error())));
      }
    }
    requests = requests.subspan(wave.size());
  }
  return responses;
}

base::Result<OwnedConnection> BlockingHttpClient::OpenConnection(const HttpRequest& request,
                                                                 Clock::time_point deadline,
                                                                 size_t body_limit) {
  if (!IsSafeTarget(request)) {
    return base::Fail(base::Code::kInvalidArgument,
                      "malformed request: " + request.method + " " + request.target);
  }
  TRY_ASSIGN(OwnedConnection connection, ConnectAnew(timeout_));
  TRY(connection->MakeCancellable());
  TRY(connection->Write(request, body_limit, deadline));
  if (const base::Status read = connection->ReadHeader(deadline); !read) {
    return base::Fail(read.error().Wrap(request.method + " " + request.target));
  }
  return connection;
}

base::Result<std::unique_ptr<BodyStream>> BlockingHttpClient::Open(const HttpRequest& request) {
  TRY_ASSIGN(OwnedConnection connection,
             OpenConnection(request, Clock::now() + timeout_, MessageParser::kNoLimit));
  ClientConnection::Deadline deadline;
  if (request.lifetime.count() > 0) deadline = Clock::now() + request.lifetime;
  return std::unique_ptr<BodyStream>(
      std::make_unique<BlockingBodyStream>(std::move(connection), deadline));
}

base::Result<UpgradeAnswer> BlockingHttpClient::Upgrade(const HttpRequest& request) {
  const auto deadline = Clock::now() + timeout_;
  TRY_ASSIGN(OwnedConnection connection, OpenConnection(request, deadline, kMaxRefusalBytes));
  UpgradeAnswer answer;
  answer.status = connection->message().status;
  if (answer.status != kSwitchingProtocols) TRY(connection->ReadBody(deadline));
  answer.headers = std::move(connection->message().headers);
  answer.body = std::move(connection->message().body);
  if (answer.status == kSwitchingProtocols) {
    answer.stream = std::make_unique<BlockingByteStream>(std::move(connection));
  }
  return answer;
}

}  // namespace

base::Result<UpgradeAnswer> HttpClient::Upgrade(const HttpRequest&) {
  return base::Fail(base::Code::kUnavailable,
                    "this connection cannot change from HTTP to another protocol");
}

std::unique_ptr<HttpClient> HttpClient::Over(SocketSource connect,
                                             std::chrono::milliseconds timeout) {
  return std::make_unique<BlockingHttpClient>(std::move(connect), timeout);
}

std::unique_ptr<HttpClient> HttpClient::Unix(std::string socket_path,
                                             std::chrono::milliseconds timeout) {
  const auto connect =
      [path = std::move(socket_path)](std::chrono::milliseconds left) -> ConnectedSocket {
    TRY_ASSIGN(base::Fd fd, ConnectToUnixPath(path, left));
    return PlainSocket(std::move(fd));
  };
  return Over(connect, timeout);
}

std::unique_ptr<HttpClient> HttpClient::Tcp(std::string host, uint16_t port,
                                            std::chrono::milliseconds timeout) {
  const auto connect = [host = std::move(host),
                        port](std::chrono::milliseconds left) -> ConnectedSocket {
    TRY_ASSIGN(base::Fd fd, ConnectToTcp(host, port, left));
    return PlainSocket(std::move(fd));
  };
  return Over(connect, timeout);
}

}  // namespace net

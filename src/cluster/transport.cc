#include "cluster/transport.h"

#include <chrono>
#include <optional>
#include <utility>

namespace cluster {
namespace {

// The most that is read of an answer that is not a success.
constexpr size_t kMaxErrorBody = 1 << 20;

// How much of a body that came whole is passed to `take` at once.
constexpr size_t kPieceBytes = 256 << 10;

class ClientTransport final : public Transport {
 public:
  ClientTransport(std::unique_ptr<net::HttpClient> client, net::Headers extra_headers,
                  std::chrono::seconds timeout)
      : client_(std::move(client)), extra_headers_(std::move(extra_headers)), timeout_(timeout) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    return client_->Send(WithExtraHeaders(request));
  }
  base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                          const TakeBody& take) override {
    net::HttpRequest sent = WithExtraHeaders(request);
    sent.lifetime = timeout_;
    TRY_ASSIGN(const auto stream, client_->Open(sent));
    return ReceiveStream(*stream, take);
  }
  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<net::HttpRequest> sent;
    sent.reserve(requests.size());
    for (const auto& request : requests) sent.push_back(WithExtraHeaders(request));
    return client_->SendAll(sent);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return client_->Open(WithExtraHeaders(request));
  }
  base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols) override {
    return net::OpenWebSocket(*client_, WithExtraHeaders(request), protocols);
  }

 private:
  net::HttpRequest WithExtraHeaders(net::HttpRequest request) const {
    request.headers.insert(request.headers.end(), extra_headers_.begin(), extra_headers_.end());
    return request;
  }

  const std::unique_ptr<net::HttpClient> client_;
  const net::Headers extra_headers_;
  const std::chrono::seconds timeout_;
};

}  // namespace

base::Result<net::HttpResponse> Transport::ReceiveStream(net::BodyStream& stream,
                                                         const TakeBody& take) {
  net::HttpResponse response{stream.status(), stream.headers(), ""};
  const bool is_success = response.status / 100 == 2;
  while (true) {
    TRY_ASSIGN(const std::optional<std::string> bytes, stream.Read());
    if (!bytes) return response;
    if (is_success) {
      TRY(take(*bytes));
    } else if (response.body.size() < kMaxErrorBody) {
      response.body += *bytes;
    }
  }
}

base::Result<net::HttpResponse> Transport::Receive(const net::HttpRequest& request,
                                                   const TakeBody& take) {
  TRY_ASSIGN(net::HttpResponse response, Send(request));
  if (response.status / 100 != 2) return response;
  const std::string body = std::move(response.body);
  response.body.clear();
  for (size_t at = 0; at < body.size(); at += kPieceBytes) {
    TRY(take(std::string_view(body).substr(at, kPieceBytes)));
  }
  return response;
}

std::vector<base::Result<net::HttpResponse>> Transport::SendAll(
    std::span<const net::HttpRequest> requests) {
  std::vector<base::Result<net::HttpResponse>> responses;
  responses.reserve(requests.size());
  for (const auto& request : requests) responses.push_back(Send(request));
  return responses;
}

base::Result<net::WebSocketAnswer> Transport::OpenWebSocket(const net::HttpRequest&,
                                                            const std::vector<std::string>&) {
  return base::Fail(base::Code::kUnavailable, "this connection carries no WebSocket");
}

std::unique_ptr<Transport> UnixTransport(std::string socket_path, net::Headers extra_headers,
                                         std::chrono::seconds timeout) {
  return HttpTransport(net::HttpClient::Unix(std::move(socket_path), timeout),
                       std::move(extra_headers), timeout);
}

std::unique_ptr<Transport> HttpTransport(std::unique_ptr<net::HttpClient> client,
                                         net::Headers extra_headers, std::chrono::seconds timeout) {
  return std::make_unique<ClientTransport>(std::move(client), std::move(extra_headers), timeout);
}

}  // namespace cluster

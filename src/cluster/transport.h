// Sends requests to an API server. Client does not know which kind of server it is.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/client.h"
#include "net/http/types.h"
#include "net/websocket/client.h"

namespace cluster {

// Thread safe.
class Transport {
 public:
  virtual ~Transport() = default;
  // Whether it takes requests with a value in place of a JSON body.
  virtual bool TakesParsed() const { return false; }
  virtual base::Result<net::HttpResponse> Send(const net::HttpRequest& request) = 0;
  // Like Send, but passes the body of a success to `take` as it comes, on this thread, and returns
  // the answer without it. An error of `take` ends the call.
  using TakeBody = std::function<base::Status(std::string_view bytes)>;
  virtual base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                                  const TakeBody& take);
  // Sends them together if the transport can (the embedded store then commits them together).
  // Answers are in the order of the requests.
  virtual std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests);
  virtual base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) = 0;
  // A WebSocket with one of `protocols`, or the server's error. kUnavailable if the transport has
  // no WebSockets.
  virtual base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols);

 protected:
  // Like Receive, for an answer whose head has come.
  static base::Result<net::HttpResponse> ReceiveStream(net::BodyStream& stream,
                                                       const TakeBody& take);
};

// An API server answers in milliseconds; if it takes this long, something is broken.
inline constexpr std::chrono::seconds kRequestTimeout{60};

// Uses the embedded cluster's Unix socket. `extra_headers` are added to every request.
std::unique_ptr<Transport> UnixTransport(std::string socket_path, net::Headers extra_headers,
                                         std::chrono::seconds timeout = kRequestTimeout);

// Uses the caller's client. `timeout` is for an answer that is received piece by piece.
std::unique_ptr<Transport> HttpTransport(std::unique_ptr<net::HttpClient> client,
                                         net::Headers extra_headers,
                                         std::chrono::seconds timeout = kRequestTimeout);

// Calls `handler` in this process, and blocks until it answers.
std::unique_ptr<Transport> InProcessTransport(net::HttpHandler handler);

}  // namespace cluster

// How requests reach an API server. The Client above does not know which one it has.
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
  virtual base::Result<net::HttpResponse> Send(const net::HttpRequest& request) = 0;
  // Send, but the body of a success goes to `take` as it comes, on this thread; its error ends the
  // call. What the answer holds then is its head.
  using TakeBody = std::function<base::Status(std::string_view bytes)>;
  virtual base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                                  const TakeBody& take);
  // All at once where the transport can (the embedded store commits them together); answers in the
  // order of the requests.
  virtual std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests);
  virtual base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) = 0;
  // A WebSocket with one of `protocols`, or what the server says instead. kUnavailable where the
  // transport has none.
  virtual base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols);

 protected:
  // Receive of an answer whose head has come.
  static base::Result<net::HttpResponse> ReceiveStream(net::BodyStream& stream,
                                                       const TakeBody& take);
};

// An API server answers in milliseconds; past this something is broken.
inline constexpr std::chrono::seconds kRequestTimeout{60};

// Over the embedded cluster's Unix socket. `extra_headers` go with every request.
std::unique_ptr<Transport> UnixTransport(std::string socket_path, net::Headers extra_headers,
                                         std::chrono::seconds timeout = kRequestTimeout);

// Over a client of the caller's; `timeout` is of an answer that is received piece by piece.
std::unique_ptr<Transport> HttpTransport(std::unique_ptr<net::HttpClient> client,
                                         net::Headers extra_headers,
                                         std::chrono::seconds timeout = kRequestTimeout);

// Calls `handler` in this process; blocks until it answers.
std::unique_ptr<Transport> InProcessTransport(net::HttpHandler handler);

}  // namespace cluster

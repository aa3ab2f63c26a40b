// How requests reach an API server. The Client above does not know which one it has.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "net/http_client.h"
#include "net/websocket.h"

namespace cluster {

// Thread safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual base::Result<net::HttpResponse> Send(const net::HttpRequest& request) = 0;
  // All at once where the transport can (the embedded store commits them together); answers in the
  // order of the requests.
  virtual std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests);
  virtual base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) = 0;
  // A WebSocket with one of `protocols`, or what the server says instead. kUnavailable where the
  // transport has none.
  virtual base::Result<net::WebSocketAnswer> OpenWebSocket(
      const net::HttpRequest& request, const std::vector<std::string>& protocols);
};

// Over the embedded cluster's Unix socket. `extra_headers` go with every request.
std::unique_ptr<Transport> UnixTransport(std::string socket_path, net::Headers extra_headers);

// Calls `handler` in this process; blocks until it answers.
std::unique_ptr<Transport> InProcessTransport(net::HttpHandler handler);

}  // namespace cluster

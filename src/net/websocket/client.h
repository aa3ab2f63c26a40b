// The client's end of a WebSocket.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/client.h"
#include "net/websocket/frame.h"

namespace net {

// Read from one thread; Send and Cancel from any.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // The subprotocol that the server chose.
  virtual const std::string& protocol() const = 0;
  // A part of the next data message; nullopt when the server has closed normally. Blocks, and
  // answers pings meanwhile. kUnavailable when the connection broke or the server closed it with an
  // error, kCancelled after Cancel.
  virtual base::Result<std::optional<WebSocketPiece>> Read() = 0;
  // A whole binary message. Blocks until the kernel has it.
  virtual base::Status Send(std::string_view message) = 0;
  virtual void Cancel() = 0;
};

struct WebSocketAnswer {
  int status = 0;
  std::string body;                   // of a refusal
  std::unique_ptr<WebSocket> socket;  // set with status 101
  Headers headers{};
};

// Sends `request`, a GET, with the headers that request a WebSocket with one of `protocols`.
base::Result<WebSocketAnswer> OpenWebSocket(HttpClient& client, HttpRequest request,
                                            const std::vector<std::string>& protocols);

}  // namespace net

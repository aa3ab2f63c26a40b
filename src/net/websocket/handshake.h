// The opening handshake of a WebSocket (RFC 6455 section 4).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

// Whether the request asks for a WebSocket.
bool WantsWebSocket(const HttpRequest& request);

// The headers of the 101 that accepts `request` with the first of `protocols` (best first) that the
// client offers, named in Sec-WebSocket-Protocol. kInvalidArgument says what is wrong with the
// request.
base::Result<Headers> AcceptWebSocket(const HttpRequest& request,
                                      const std::vector<std::string>& protocols);

// Sixteen random bytes in base64.
std::string NewWebSocketKey();
// The answer that a server must give to a key.
std::string WebSocketAccept(std::string_view key);

// The headers that ask for a WebSocket with one of `protocols`.
Headers WebSocketRequestHeaders(std::string_view key, const std::vector<std::string>& protocols);
// The subprotocol of a 101. kUnavailable when the answer does not belong to `key`, or names none of
// `protocols`.
base::Result<std::string> CheckWebSocketAnswer(const Headers& headers, std::string_view key,
                                               const std::vector<std::string>& protocols);

}  // namespace net

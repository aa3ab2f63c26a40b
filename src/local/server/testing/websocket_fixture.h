// For tests: the client's end of a WebSocket whose server answers a FakeResponder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "local/server/testing/test_server.h"
#include "net/websocket/frame.h"

namespace local::server {

// One binary message from the client.
inline void SendMessage(FakeResponder& responder, const std::string& message) {
  responder.Receive(net::FormatWebSocketFrame(net::WebSocketOpcode::kBinary, message,
                                              net::WebSocketMask{9, 8, 7, 6}));
}

// The messages that were sent to the client.
inline std::vector<std::string> MessagesTo(FakeResponder& responder) {
  net::WebSocketParser parser(net::WebSocketParser::Peer::kServer);
  std::vector<net::WebSocketPiece> pieces;
  EXPECT_TRUE(parser.Feed(responder.Now().body, pieces));
  std::vector<std::string> messages;
  for (const auto& piece : pieces) {
    messages.push_back(piece.is_data() ? piece.payload : "<close>");
  }
  return messages;
}

}  // namespace local::server

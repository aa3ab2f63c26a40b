#include "net/websocket/handshake.h"

#include <gtest/gtest.h>

namespace net {
namespace {

const std::vector<std::string> kProtocols = {"v5.channel.k8s.io", "v4.channel.k8s.io"};

HttpRequest Request(const std::string& protocols = "v4.channel.k8s.io") {
  return {"GET",
          "/",
          {{"Connection", "keep-alive, Upgrade"},
           {"Upgrade", "websocket"},
           {"Sec-WebSocket-Version", "13"},
           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
           {"Sec-WebSocket-Protocol", protocols}},
          ""};
}

std::string& Header(HttpRequest& request, std::string_view name) {
  for (auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return request.headers.emplace_back(name, "").second;
}

TEST(WebSocketHandshake, AnswersTheExampleOfTheRfc) {
  EXPECT_EQ(WebSocketAccept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const auto headers = AcceptWebSocket(Request(), kProtocols);
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_EQ(*headers, (Headers{{"Upgrade", "websocket"},
                               {"Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="},
                               {"Sec-WebSocket-Protocol", "v4.channel.k8s.io"}}));
}

TEST(WebSocketHandshake, TakesTheBestProtocolThatIsOffered) {
  const auto headers =
      AcceptWebSocket(Request("x, v4.channel.k8s.io,v5.channel.k8s.io"), kProtocols);
  ASSERT_TRUE(headers);
  EXPECT_EQ(FindHeader(*headers, "Sec-WebSocket-Protocol"), "v5.channel.k8s.io");
  HttpRequest apart = Request("v3.channel.k8s.io");
  apart.headers.emplace_back("sec-websocket-protocol", "v4.channel.k8s.io");
  EXPECT_TRUE(AcceptWebSocket(apart, kProtocols));
}

TEST(WebSocketHandshake, SaysWhatIsWrongWithARequest) {
  const auto error_of = [](const HttpRequest& request) {
    const auto headers = AcceptWebSocket(request, kProtocols);
    return headers ? "accepted" : headers.error().message;
  };
  EXPECT_EQ(error_of(Request("v1.channel.k8s.io")),
            "WebSocket handshake: Sec-WebSocket-Protocol must offer one of v5.channel.k8s.io, "
            "v4.channel.k8s.io, not \"v1.channel.k8s.io\"");
  HttpRequest request = Request();
  Header(request, "Sec-WebSocket-Version") = "8";
  EXPECT_EQ(error_of(request), "WebSocket handshake: Sec-WebSocket-Version must be 13");
  for (const char* key : {"", "short==", "dGhlIHNhbXBsZSBub25jZQ=?", "dGhlIHNhbXBsZSBub25jZ !=="}) {
    request = Request();
    Header(request, "Sec-WebSocket-Key") = key;
    EXPECT_EQ(error_of(request),
              "WebSocket handshake: Sec-WebSocket-Key must be 16 bytes in base64");
  }
  request = Request();
  request.method = "POST";
  EXPECT_EQ(error_of(request), "WebSocket handshake: the method must be GET");
  request = Request();
  request.body = "x";
  EXPECT_EQ(error_of(request), "WebSocket handshake: the request has a body");
  request = Request();
  Header(request, "Upgrade") = "SPDY/3.1";
  EXPECT_FALSE(WantsWebSocket(request));
  EXPECT_EQ(error_of(request), "WebSocket handshake: no Upgrade: websocket");
}

TEST(WebSocketHandshake, BothEndsAgree) {
  const std::string key = NewWebSocketKey();
  EXPECT_NE(key, NewWebSocketKey());
  HttpRequest request{"GET", "/", WebSocketRequestHeaders(key, kProtocols), ""};
  request.headers.emplace_back("Connection", "Upgrade");
  const auto headers = AcceptWebSocket(request, kProtocols);
  ASSERT_TRUE(headers) << headers.error().message;
  const auto protocol = CheckWebSocketAnswer(*headers, key, kProtocols);
  ASSERT_TRUE(protocol);
  EXPECT_EQ(*protocol, "v5.channel.k8s.io");
  EXPECT_FALSE(CheckWebSocketAnswer(*headers, NewWebSocketKey(), kProtocols));
  EXPECT_FALSE(CheckWebSocketAnswer(*headers, key, {"v4.channel.k8s.io"}));
}

}  // namespace
}  // namespace net

// Both ends of a WebSocket, over a real socket.
#include "net/websocket/client.h"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

#include "net/testing/server_fixture.h"
#include "net/websocket/handshake.h"
#include "net/websocket/server.h"

namespace net {
namespace {

const std::vector<std::string> kServedProtocols = {"b", "a"};

// Accepts every WebSocket, and records what arrives.
class WebSocketTest : public ServerFixture {
 protected:
  void ServeWebSockets() {
    Serve([this](const HttpRequest& request, std::shared_ptr<Responder> responder) {
      auto headers = AcceptWebSocket(request, kServedProtocols);
      if (!headers) return responder->Send({400, {}, headers.error().message});
      auto peer = WebSocketPeer::Start(std::move(responder), std::move(*headers),
                                       [this](WebSocketPiece piece) { OnPiece(std::move(piece)); });
      peer->OnClose([this] {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
      });
      const std::lock_guard lock(mutex_);
      peer_ = std::move(peer);
      changed_.notify_all();
    });
  }
  void TearDown() override {
    {
      const std::lock_guard lock(mutex_);
      peer_.reset();
    }
    ServerFixture::TearDown();
  }

  std::unique_ptr<WebSocket> Open(const std::vector<std::string>& protocols = {"a"}) {
    auto answer = OpenWebSocket(*client_, {"GET", "/x", {}, ""}, protocols);
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return nullptr;
    EXPECT_EQ(answer->status, 101) << answer->body;
    return std::move(answer->socket);
  }
  std::shared_ptr<WebSocketPeer> Peer() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kTestPatience, [&] { return peer_ != nullptr; }));
    return peer_;
  }
  void OnPiece(WebSocketPiece piece) {
    const std::lock_guard lock(mutex_);
    received_ += piece.payload;
    if (piece.ends) received_ += '|';
    changed_.notify_all();
  }
  bool AwaitReceived(size_t size) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, [&] { return received_.size() >= size; });
  }
  bool AwaitClosed() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, [&] { return is_closed_; });
  }
  static std::string ReadMessage(WebSocket& socket) {
    std::string message;
    while (true) {
      auto piece = socket.Read();
      if (!piece || !*piece) return "<end>";
      message += (*piece)->payload;
      if ((*piece)->ends) return message;
    }
  }
  // A connection for hand-written frames, after the handshake.
  RawPeer OpenRaw() {
    RawPeer raw(path_);
    EXPECT_TRUE(
        raw.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                 "Sec-WebSocket-Protocol: a\r\n\r\n"));
    const std::string head = raw.ReadUntil("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << head;
    EXPECT_NE(head.find("Connection: Upgrade\r\n"), std::string::npos) << head;
    return raw;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<WebSocketPeer> peer_;
  std::string received_;
  bool is_closed_ = false;
};

TEST_F(WebSocketTest, CarriesMessagesBothWays) {
  ServeWebSockets();
  const auto socket = Open({"a", "b"});
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->protocol(), "b");
  ASSERT_TRUE(socket->Send("one"));
  ASSERT_TRUE(socket->Send(""));
  ASSERT_TRUE(socket->Send("two"));
  ASSERT_TRUE(AwaitReceived(9));
  EXPECT_EQ(received_, "one||two|");
  const std::string large(3 << 20, 'x');
  const auto peer = Peer();
  peer->Send("first");
  peer->Send(large);
  EXPECT_EQ(ReadMessage(*socket), "first");
  EXPECT_EQ(ReadMessage(*socket), large);
  peer->Close(WebSocketClose::kNormal, "");
  const auto end = socket->Read();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_FALSE(*end);
  EXPECT_TRUE(AwaitClosed());
}

TEST_F(WebSocketTest, ARefusalHasItsWords) {
  ServeWebSockets();
  const auto answer = OpenWebSocket(*client_, {"GET", "/", {}, ""}, {"c"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_FALSE(answer->socket);
  EXPECT_NE(answer->body.find("must offer one of b, a, not \"c\""), std::string::npos);
}

TEST_F(WebSocketTest, AClosingReasonIsAnError) {
  ServeWebSockets();
  const auto socket = Open();
  Peer()->Close(WebSocketClose::kInternalError, "out of luck");
  const auto end = socket->Read();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
  EXPECT_EQ(end.error().message, "the server closed the connection: 1011 out of luck");
}

TEST_F(WebSocketTest, APeerThatIsDroppedBreaksTheConnection) {
  ServeWebSockets();
  const auto socket = Open();
  Peer();
  {
    const std::lock_guard lock(mutex_);
    peer_.reset();
  }
  const auto end = socket->Read();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
}

TEST_F(WebSocketTest, AClientThatGoesIsNoticed) {
  ServeWebSockets();
  auto socket = Open();
  Peer();
  socket.reset();
  EXPECT_TRUE(AwaitClosed());
}

TEST_F(WebSocketTest, CancelEndsARead) {
  ServeWebSockets();
  const auto socket = Open();
  std::thread canceller([&] { socket->Cancel(); });
  const auto end = socket->Read();
  canceller.join();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kCancelled);
}

TEST_F(WebSocketTest, WhatIsNotUsedIsNotReadOn) {
  ServeWebSockets();
  const auto socket = Open();
  constexpr size_t kMessage = 64 << 10;
  constexpr size_t kCount = 64;
  std::thread writer([&] {
    for (size_t i = 0; i < kCount; ++i) {
      EXPECT_TRUE(socket->Send(std::string(kMessage, static_cast<char>('a' + i % 26))));
    }
  });
  ASSERT_TRUE(AwaitReceived(kMaxUnusedBytes - kMessage));
  size_t used = 0;
  size_t most = 0;
  while (used < kMessage * kCount) {
    ASSERT_TRUE(AwaitReceived(used + 1));
    size_t now = 0;
    {
      const std::lock_guard lock(mutex_);
      now = received_.size() -
            static_cast<size_t>(std::count(received_.begin(), received_.end(), '|'));
    }
    most = std::max(most, now - used);
    Peer()->Used(now - used);
    used = now;
  }
  writer.join();
  // One read of the server may exceed the limit.
  EXPECT_LE(most, kMaxUnusedBytes + (64 << 10));
  std::string expected;
  for (size_t i = 0; i < kCount; ++i) {
    expected.append(kMessage, static_cast<char>('a' + i % 26)).append("|");
  }
  EXPECT_TRUE(AwaitReceived(expected.size()));
  EXPECT_EQ(received_, expected);
}

TEST_F(WebSocketTest, ReportsWhenItsOutputIsTaken) {
  ServeWebSockets();
  const auto socket = Open();
  const auto peer = Peer();
  const std::string large(8 << 20, 'x');
  peer->Send(large);
  std::promise<void> taken;
  peer->WhenTaken(1 << 20, [&] { taken.set_value(); });
  EXPECT_EQ(ReadMessage(*socket), large);
  EXPECT_EQ(taken.get_future().wait_for(kTestPatience), std::future_status::ready);
  EXPECT_LE(peer->PendingBytes(), size_t{1 << 20});
}

TEST_F(WebSocketTest, AnswersPingsAndACloseInKind) {
  ServeWebSockets();
  RawPeer raw = OpenRaw();
  const WebSocketMask mask = {1, 2, 3, 4};
  ASSERT_TRUE(raw.Send(FormatWebSocketFrame(WebSocketOpcode::kPing, "ha", mask)));
  EXPECT_EQ(raw.ReadUntil("ha"), "\x8a\x02ha");
  ASSERT_TRUE(raw.Send(FormatWebSocketFrame(WebSocketOpcode::kText, "text", mask)));
  ASSERT_TRUE(AwaitReceived(5));
  EXPECT_EQ(received_, "text|");
  ASSERT_TRUE(raw.Send(FormatWebSocketFrame(WebSocketOpcode::kClose, "", mask)));
  EXPECT_EQ(raw.ReadToClose(), std::string("\x88\x02\x03\xe8", 4));
}

TEST_F(WebSocketTest, APeerThatBreaksTheProtocolIsToldSo) {
  ServeWebSockets();
  RawPeer raw = OpenRaw();
  ASSERT_TRUE(raw.Send("\x82\x01x"));
  const std::string end = raw.ReadToClose();
  ASSERT_GT(end.size(), 4U);
  EXPECT_EQ(ParseWebSocketClose(std::string_view(end).substr(2)).code, 1002);
  EXPECT_NE(end.find("not masked by a client"), std::string::npos);
}

TEST_F(WebSocketTest, FramesMayComeWithTheHandshake) {
  ServeWebSockets();
  RawPeer raw(path_);
  ASSERT_TRUE(
      raw.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
               "Sec-WebSocket-Protocol: a\r\n\r\n" +
               FormatWebSocketFrame(WebSocketOpcode::kBinary, "early", WebSocketMask{})));
  ASSERT_TRUE(AwaitReceived(6));
  EXPECT_EQ(received_, "early|");
}

}  // namespace
}  // namespace net

#include "net/websocket/frame.h"

#include <gtest/gtest.h>

namespace net {
namespace {

using Peer = WebSocketParser::Peer;
using Pieces = std::vector<WebSocketPiece>;

constexpr WebSocketMask kMask = {0x37, 0xfa, 0x21, 0x3d};

std::string Frame(unsigned char first, std::string_view payload) {
  std::string frame(1, static_cast<char>(first));
  frame += static_cast<char>(payload.size());
  return frame.append(payload);
}

// Parses a server's frames.
base::Result<Pieces> Parse(std::string_view bytes) {
  WebSocketParser parser(Peer::kServer);
  Pieces pieces;
  TRY(parser.Feed(bytes, pieces));
  return pieces;
}

std::string ErrorOf(std::string_view bytes, Peer peer = Peer::kServer) {
  WebSocketParser parser(peer);
  Pieces pieces;
  const auto fed = parser.Feed(bytes, pieces);
  return fed ? "accepted" : fed.error().message;
}

std::string Joined(const Pieces& pieces) {
  std::string all;
  for (const WebSocketPiece& piece : pieces) all += piece.payload;
  return all;
}

// The examples of RFC 6455 section 5.7.
TEST(WebSocketFrame, ReadsTheExamplesOfTheRfc) {
  const auto hello = Parse("\x81\x05Hello");
  ASSERT_TRUE(hello);
  ASSERT_EQ(hello->size(), 1U);
  EXPECT_EQ(hello->front().opcode, WebSocketOpcode::kText);
  EXPECT_TRUE(hello->front().begins && hello->front().ends);
  EXPECT_EQ(hello->front().payload, "Hello");

  WebSocketParser parser(Peer::kClient);
  Pieces pieces;
  ASSERT_TRUE(parser.Feed("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", pieces));
  EXPECT_EQ(Joined(pieces), "Hello");
  EXPECT_EQ(FormatWebSocketFrame(WebSocketOpcode::kText, "Hello", kMask),
            "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");

  const auto halves = Parse(std::string("\x01\x03Hel\x80\x02lo"));
  ASSERT_TRUE(halves);
  ASSERT_EQ(halves->size(), 2U);
  EXPECT_TRUE((*halves)[0].begins && !(*halves)[0].ends);
  EXPECT_TRUE(!(*halves)[1].begins && (*halves)[1].ends);
  EXPECT_EQ((*halves)[1].opcode, WebSocketOpcode::kText);
  EXPECT_EQ(Joined(*halves), "Hello");
}

TEST(WebSocketFrame, EveryLengthSurvivesEveryCut) {
  for (const size_t size : {0U, 1U, 125U, 126U, 127U, 65535U, 65536U, 100'000U}) {
    std::string payload(size, '\0');
    for (size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 31);
    for (const bool is_masked : {false, true}) {
      const std::string frame = FormatWebSocketFrame(
          WebSocketOpcode::kBinary, payload, is_masked ? std::optional(kMask) : std::nullopt);
      for (const size_t cut : {size_t{1}, size_t{7}, size_t{4096}, frame.size()}) {
        WebSocketParser parser(is_masked ? Peer::kClient : Peer::kServer);
        Pieces pieces;
        for (size_t at = 0; at < frame.size(); at += cut) {
          ASSERT_TRUE(parser.Feed(std::string_view(frame).substr(at, cut), pieces));
        }
        ASSERT_FALSE(pieces.empty());
        EXPECT_EQ(Joined(pieces), payload) << size << " cut by " << cut;
        EXPECT_TRUE(pieces.front().begins);
        EXPECT_TRUE(pieces.back().ends);
        for (size_t i = 1; i < pieces.size(); ++i) EXPECT_FALSE(pieces[i].begins);
      }
    }
  }
}

TEST(WebSocketFrame, ControlFramesComeBetweenFragments) {
  const auto pieces = Parse(std::string("\x02\x01") + "a" + "\x89\x02hi" + "\x80\x01z");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 3U);
  EXPECT_EQ((*pieces)[1].opcode, WebSocketOpcode::kPing);
  EXPECT_EQ((*pieces)[1].payload, "hi");
  EXPECT_EQ((*pieces)[2].payload, "z");
}

TEST(WebSocketFrame, NothingFollowsAClose) {
  const auto pieces = Parse(std::string("\x88\x02\x03\xe8", 4) + "\xff\xff garbage");
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 1U);
  EXPECT_EQ(ParseWebSocketClose(pieces->front().payload).code, 1000);
}

TEST(WebSocketFrame, RefusesWhatTheRfcForbids) {
  const std::pair<std::string, std::string> cases[] = {
      {Frame(0xc2, "x"), "reserved bits are set"},
      {Frame(0x83, "x"), "unknown opcode"},
      {Frame(0x8b, "x"), "unknown opcode"},
      {Frame(0x80, "x"), "a continuation of nothing"},
      {Frame(0x02, "x") + Frame(0x82, "y"), "a new message inside another"},
      {Frame(0x09, "x"), "a control frame in fragments"},
      {std::string("\x89\x7e\x00\x7e", 4), "a control frame of more than 125 bytes"},
      {std::string("\x82\x7e\x00\x7d", 4), "length not in short form"},
      {std::string("\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", 10), "length not in short form"},
      {std::string("\x82\x81\x00\x00\x00\x00x", 7), "masked by a server"},
      {Frame(0x88, "x"), "half a close code"},
      {Frame(0x88, std::string("\x03\xed", 2)), "a close code that nobody may send"},
      {Frame(0x88, std::string("\x00\x00", 2)), "a close code that nobody may send"},
  };
  for (const auto& [bytes, why] : cases) {
    EXPECT_EQ(ErrorOf(bytes), "malformed WebSocket frame: " + why);
  }
  EXPECT_EQ(ErrorOf(Frame(0x82, "x"), Peer::kClient),
            "malformed WebSocket frame: not masked by a client");
}

TEST(WebSocketFrame, AFrameHasALimit) {
  const std::string huge("\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", 10);
  EXPECT_EQ(ErrorOf(huge), "WebSocket frame too large");
  const std::string negative("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10);
  EXPECT_EQ(ErrorOf(negative), "WebSocket frame too large");
}

TEST(WebSocketFrame, AReasonIsCutBetweenCharacters) {
  const std::string payload =
      FormatWebSocketClose(WebSocketClose::kInternalError, std::string(122, 'a') + "\xc3\xa4");
  EXPECT_EQ(payload.size(), 2U + 122U);
  EXPECT_EQ(ParseWebSocketClose(payload).code, 1011);
  EXPECT_EQ(ParseWebSocketClose("").code, 1005);
}

}  // namespace
}  // namespace net

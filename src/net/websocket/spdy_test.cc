#include "net/websocket/spdy.h"

#include <gtest/gtest.h>

namespace net {
namespace {

using SpdyKind = SpdyEvent::Kind;
using std::string_literals::operator""s;

std::vector<SpdyEvent> Read(std::string_view bytes, size_t step) {
  SpdyParser parser;
  std::vector<SpdyEvent> events;
  for (size_t at = 0; at < bytes.size(); at += step) {
    const base::Status fed = parser.Feed(bytes.substr(at, step), events);
    EXPECT_TRUE(fed) << fed.error().message;
    if (!fed) break;
  }
  return events;
}

TEST(Spdy, ReadsWhatAClientSaysHoweverItIsCut) {
  SpdyWriter client;
  std::string bytes =
      client.Open(1, {{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}}, true);
  bytes += client.Open(3, {{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}}, false);
  bytes += SpdyWriter::Data(3, "hello", false) + SpdyWriter::Ping(7) +
           SpdyWriter::Data(3, "", true) + SpdyWriter::Reset(3);
  for (const size_t step : {size_t{1}, size_t{5}, bytes.size()}) {
    std::string text;
    for (const SpdyEvent& event : Read(bytes, step)) {
      if (event.kind != SpdyKind::kData) text += " " + std::to_string(static_cast<int>(event.kind));
      for (const auto& [name, value] : event.headers) text += " " + name + "=" + value;
      text += event.payload;
    }
    EXPECT_EQ(text,
              " 0 streamtype=error port=80 requestid=0 2 0 streamtype=data port=80 requestid=0"
              "hello 4 2 3")
        << step;
  }
}

// In hexadecimal: the streams of one port as moby/spdystream 0.5.1 opens them.
constexpr std::string_view kFromSpdystream =
    "800300010000003f0000000100000000000078f9e3c6a7c202253a703a2b294a4dcc851625aca9a0"
    "808614cb45a024cc6a68616e062a85388b20f198094adf8c0600000000ffff800300010000001800"
    "000003000000000000c2aa1b54102512a119000000ffff";

TEST(Spdy, UnpacksWhatAnotherPacked) {
  std::string bytes;
  for (size_t at = 0; at < kFromSpdystream.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(std::string(kFromSpdystream.substr(at, 2)), nullptr, 16));
  }
  const auto events = Read(bytes, bytes.size());
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(FindHeader(events[0].headers, "streamtype"), "error");
  EXPECT_EQ(FindHeader(events[0].headers, "port"), "18765");
  EXPECT_EQ(FindHeader(events[1].headers, "streamtype"), "data");
  EXPECT_EQ(events[1].stream, 3U);
}

struct SpdyRefusal {
  std::string bytes;
  base::Code code;
  std::string why;
};

TEST(Spdy, RefusesWhatIsMalformed) {
  const auto open = [](uint32_t stream) {
    return SpdyWriter().Open(stream, {{"port", "80"}}, false);
  };
  const std::string huge(70 << 10, 'x');
  std::string packed_badly = open(1);
  packed_badly[kSpdyFrameHeadBytes + 12] ^= 0x55;  // the dictionary's checksum
  const SpdyRefusal cases[] = {
      {"\x80\x02\0\1\0\0\0\0"s, base::Code::kInvalidArgument, "not version 3"},
      {"\x80\x03\0\1\0\0\0\4\0\0\0\1"s, base::Code::kInvalidArgument, "a short SYN_STREAM"},
      {"\x80\x03\0\3\0\0\0\4\0\0\0\1"s, base::Code::kInvalidArgument, "RST_STREAM is of 8 bytes"},
      {"\x80\x03\0\6\0\0\0\2\0\0"s, base::Code::kInvalidArgument, "PING is of 4 bytes"},
      {"\x80\x03\0\x08\0\0\0\1\0"s, base::Code::kInvalidArgument, "a short HEADERS"},
      {open(2), base::Code::kInvalidArgument, "out of turn"},
      {open(1) + open(1), base::Code::kInvalidArgument, "out of turn"},
      {packed_badly, base::Code::kInvalidArgument, "packed by another dictionary"},
      {"\x80\x03\0\1\0\0\0\x0e\0\0\0\1\0\0\0\0\0\0text"s, base::Code::kInvalidArgument,
       "cannot be unpacked"},
      {"\x80\x03\0\1\0\1\0\0"s, base::Code::kExhausted, "control frame is too large"},
      {SpdyWriter().Open(1, {{"a", huge}}, false), base::Code::kExhausted, "headers are too large"},
  };
  for (const SpdyRefusal& refusal : cases) {
    SpdyParser parser;
    std::vector<SpdyEvent> events;
    const base::Status fed = parser.Feed(refusal.bytes, events);
    ASSERT_FALSE(fed) << refusal.why;
    EXPECT_EQ(fed.error().code, refusal.code) << refusal.why;
    EXPECT_NE(fed.error().message.find(refusal.why), std::string::npos) << fed.error().message;
  }
}

TEST(Spdy, LooksPastWhatItDoesNotKnow) {
  const std::string settings = "\x80\x03\0\4\0\0\0\4\0\0\0\0"s;
  const std::string window = "\x80\x03\0\x09\0\0\0\x08\0\0\0\1\0\1\0\0"s;
  const std::string away = "\x80\x03\0\7\0\0\0\x08\0\0\0\0\0\0\0\0"s;
  EXPECT_TRUE(Read(settings + window + away, 3).empty());
}

TEST(Spdy, AnswersInFrames) {
  EXPECT_EQ(SpdyWriter::Data(3, "ab", true), "\0\0\0\3\1\0\0\2ab"s);
  EXPECT_EQ(SpdyWriter::Reset(3), "\x80\x03\0\3\0\0\0\x08\0\0\0\3\0\0\0\1"s);
  EXPECT_EQ(SpdyWriter::Ping(9), "\x80\x03\0\6\0\0\0\4\0\0\0\x09"s);
  EXPECT_EQ(SpdyWriter().Reply(5).substr(0, 4), "\x80\x03\0\2"s);
}

}  // namespace
}  // namespace net

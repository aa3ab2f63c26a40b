#include "net/http/parser.h"

#include <gtest/gtest.h>

namespace net {
namespace {

using Kind = MessageParser::Kind;

// Feeds `text` in pieces of `step` bytes, each with what was left over.
base::Status FeedAll(MessageParser& parser, std::string_view text, size_t step,
                     std::string* rest = nullptr) {
  std::string input;
  while (!text.empty() && !parser.is_done()) {
    input += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    TRY_ASSIGN(const size_t used, parser.Feed(input));
    input.erase(0, used);
  }
  if (rest != nullptr) *rest = input + std::string(text);
  return {};
}

TEST(MessageParser, ReadsARequestHoweverItIsCut) {
  const std::string text =
      "POST /a?b=c HTTP/1.1\r\nHost: h\r\nX-Y:  z \r\nContent-Length: 5\r\n\r\nhelloGET /next";
  for (size_t step = 1; step <= text.size(); ++step) {
    MessageParser parser(Kind::kRequest, kMaxBodyBytes);
    std::string rest;
    ASSERT_TRUE(FeedAll(parser, text, step, &rest)) << step;
    ASSERT_TRUE(parser.is_done()) << step;
    EXPECT_EQ(parser.message().method, "POST");
    EXPECT_EQ(parser.message().target, "/a?b=c");
    EXPECT_EQ(FindHeader(parser.message().headers, "x-y"), "z");
    EXPECT_EQ(parser.message().body, "hello");
    EXPECT_EQ(rest, "GET /next");
    EXPECT_TRUE(parser.keeps_alive());
  }
}

TEST(MessageParser, ReadsAChunkedResponseHoweverItIsCut) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\nb;ext=1\r\n, big world\r\n0\r\nTrailer: t\r\n\r\nX";
  for (size_t step = 1; step <= text.size(); ++step) {
    MessageParser parser(Kind::kResponse, MessageParser::kNoLimit);
    std::string rest;
    ASSERT_TRUE(FeedAll(parser, text, step, &rest)) << step;
    ASSERT_TRUE(parser.is_done()) << step;
    EXPECT_EQ(parser.message().status, 200);
    EXPECT_EQ(parser.message().body, "hello, big world");
    EXPECT_EQ(FindHeader(parser.message().headers, "Trailer"), "");
    EXPECT_EQ(rest, "X");
  }
}

TEST(MessageParser, ReadsAnEmptyChunkedBodyHoweverItIsCut) {
  const std::string text = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX";
  for (size_t step = 1; step <= text.size(); ++step) {
    MessageParser parser(Kind::kRequest, kMaxBodyBytes);
    std::string rest;
    ASSERT_TRUE(FeedAll(parser, text, step, &rest)) << step;
    ASSERT_TRUE(parser.is_done()) << step;
    EXPECT_EQ(parser.message().body, "");
    EXPECT_EQ(rest, "X");
  }
}

TEST(MessageParser, ReadsABodyToTheEndOfTheConnection) {
  MessageParser parser(Kind::kResponse, MessageParser::kNoLimit);
  ASSERT_TRUE(FeedAll(parser, "HTTP/1.0 200 OK\r\n\r\nsome text", 4));
  EXPECT_FALSE(parser.is_done());
  ASSERT_TRUE(parser.End());
  EXPECT_TRUE(parser.is_done());
  EXPECT_EQ(parser.message().body, "some text");
  EXPECT_FALSE(parser.keeps_alive());
}

TEST(MessageParser, ReportsAMessageThatBrokeOff) {
  for (const char* text : {"", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}) {
    MessageParser parser(Kind::kResponse, MessageParser::kNoLimit);
    ASSERT_TRUE(FeedAll(parser, text, 100));
    const base::Status end = parser.End();
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(end.error().code, base::Code::kUnavailable);
  }
}

TEST(MessageParser, ExpectsNoBodyOfAnAnswerToHead) {
  MessageParser parser(Kind::kResponse, 0);
  parser.ExpectNoBody();
  ASSERT_TRUE(FeedAll(parser, "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n", 100));
  EXPECT_TRUE(parser.is_done());
  EXPECT_TRUE(parser.keeps_alive());
}

TEST(MessageParser, RefusesMalformedRequests) {
  for (const char* text :
       {"\x16\x03\x01\x02", "GET\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\nA: b\n\n",
        "GET / HTTP/1.1\r\nA b\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n"}) {
    MessageParser parser(Kind::kRequest, kMaxBodyBytes);
    const base::Status fed = FeedAll(parser, text, 1000);
    ASSERT_FALSE(fed) << text;
    EXPECT_EQ(fed.error().code, base::Code::kInvalidArgument) << text;
  }
}

void ExpectExhausted(MessageParser parser, std::string_view text, bool is_header) {
  const base::Status fed = FeedAll(parser, text, 1000);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, base::Code::kExhausted);
  EXPECT_EQ(parser.is_header_too_large(), is_header);
}

TEST(MessageParser, BoundsTheHeader) {
  const std::string start = "GET / HTTP/1.1\r\n";
  std::string many_lines = start;
  while (many_lines.size() < 2 * kMaxHeaderBytes) many_lines += "A: 0123456789\r\n";
  const std::string endless = std::string(2 * kMaxHeaderBytes, 'a');
  const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n1;";
  ExpectExhausted(MessageParser(Kind::kRequest, kMaxBodyBytes), start + "A: " + endless, true);
  ExpectExhausted(MessageParser(Kind::kRequest, kMaxBodyBytes), many_lines, true);
  ExpectExhausted(MessageParser(Kind::kRequest, kMaxBodyBytes), "GET /" + endless, true);
  ExpectExhausted(MessageParser(Kind::kRequest, kMaxBodyBytes), chunked + endless, true);
}

TEST(MessageParser, BoundsTheBody) {
  const std::string start = "PUT / HTTP/1.1\r\n";
  ExpectExhausted(MessageParser(Kind::kRequest, 10), start + "Content-Length: 11\r\n\r\n", false);
  ExpectExhausted(MessageParser(Kind::kRequest, 10),
                  start + "Transfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n3\r\nabc\r\n", false);
  ExpectExhausted(MessageParser(Kind::kRequest, 10),
                  start + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\n", false);
}

TEST(MessageParser, ALengthAloneTakesNoMemory) {
  MessageParser parser(Kind::kRequest, size_t{1} << 40);
  ASSERT_TRUE(FeedAll(parser, "PUT / HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\nab", 1000));
  EXPECT_LE(parser.message().body.capacity(), size_t{1} << 20);
}

}  // namespace
}  // namespace net

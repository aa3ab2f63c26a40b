#include "net/http/types.h"

#include <gtest/gtest.h>

#include "net/http/message.h"

namespace net {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(FindHeader, IgnoresCase) {
  const Headers headers = {{"Content-Type", "a"}, {"content-type", "b"}, {"X", ""}};
  EXPECT_EQ(FindHeader(headers, "CONTENT-TYPE"), "a");
  EXPECT_EQ(FindHeader(headers, "X"), "");
  EXPECT_EQ(FindHeader(headers, "Y"), "");
}

TEST(ParseTarget, SplitsPathAndQuery) {
  const auto target = ParseTarget("/api/v1/pods?watch=1&labelSelector=a%3Db%2Cc&flag&x=a+b=c");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "v1", "pods"}));
  EXPECT_EQ(target->query,
            (Pairs{{"watch", "1"}, {"labelSelector", "a=b,c"}, {"flag", ""}, {"x", "a b=c"}}));
  EXPECT_EQ(target->Query("labelSelector"), "a=b,c");
  EXPECT_EQ(target->Query("absent"), "");
}

TEST(ParseTarget, DecodesSegmentsAfterSplitting) {
  const auto target = ParseTarget("/a%2Fb/c+d/%e4%BD%A0");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"a/b", "c+d", "你"}));
}

TEST(ParseTarget, DropsOneFinalSlashAndKeepsEmptySegmentsInside) {
  EXPECT_TRUE(ParseTarget("/")->segments.empty());
  EXPECT_TRUE(ParseTarget("/?a=b")->segments.empty());
  EXPECT_EQ(ParseTarget("/pods/")->segments, (std::vector<std::string>{"pods"}));
  EXPECT_EQ(ParseTarget("/pods//log")->segments, (std::vector<std::string>{"pods", "", "log"}));
}

TEST(ParseTarget, RefusesMalformed) {
  for (const char* target :
       {"", "pods", "*", "/a%", "/a%2", "/a%zz", "/a?b=%", "/a?%g0=b", "http://host/a"}) {
    EXPECT_FALSE(ParseTarget(target)) << target;
  }
}

TEST(PercentEncode, RoundTripsEveryByte) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const std::string encoded = PercentEncode(bytes);
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b/ä+"), "a%20b%2F%C3%A4%2B");
  const auto target = ParseTarget("/" + encoded + "?" + encoded + "=" + encoded);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments.at(0), bytes);
  EXPECT_EQ(target->query.at(0), std::make_pair(bytes, bytes));
}

TEST(FormatResponseHead, OwnsTheFraming) {
  const Headers headers = {{"Content-Length", "9"}, {"transfer-encoding", "x"}, {"A", "b"}};
  EXPECT_EQ(FormatResponseHead(200, headers, Framing::kLength, 5, false),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(FormatResponseHead(404, {}, Framing::kChunked, 0, true),
            "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

TEST(FormatResponseHead, LeavesOutHeadersThatWouldSplitTheMessage) {
  const Headers headers = {
      {"A", "b\r\nEvil: 1"}, {"B c", "d"}, {"E\n", "f"}, {"", "g"}, {"H", "i"}};
  EXPECT_EQ(FormatResponseHead(204, headers, Framing::kNone, 0, false),
            "HTTP/1.1 204 No Content\r\nH: i\r\n\r\n");
}

TEST(FormatRequestHead, NamesHostAndLength) {
  EXPECT_EQ(FormatRequestHead({"GET", "/a", {{"Accept", "b"}}, ""}),
            "GET /a HTTP/1.1\r\nHost: localhost\r\nAccept: b\r\n\r\n");
  EXPECT_EQ(FormatRequestHead({"POST", "/a", {{"host", "h"}}, ""}),
            "POST /a HTTP/1.1\r\nhost: h\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(FormatRequestHead({"DELETE", "/a", {}, "{}"}),
            "DELETE /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n");
}

}  // namespace
}  // namespace net

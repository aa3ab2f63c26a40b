#include "rendezvous/store/protocol.h"

#include <gtest/gtest.h>

#include "rendezvous/testing/store_test_client.h"

namespace rendezvous {
namespace {

using testing::Byte;
using testing::Number;
using testing::Text;

// All requests of `bytes`, given to the parser whole or `step` bytes at a time, as text.
std::string ParseAll(const std::string& bytes, size_t step) {
  const StoreLimits limits;
  StoreParser parser(limits);
  StoreRequest request;
  std::string found;
  size_t begin = 0;
  size_t end = 0;
  while (true) {
    const auto outcome = parser.Next(std::string_view(bytes).substr(begin, end - begin), request);
    if (outcome == StoreParser::Outcome::kGarbage)
      return found + "garbage: " + std::string(parser.why());
    if (outcome == StoreParser::Outcome::kNeedMore) {
      EXPECT_GT(parser.needed(), end - begin);
      if (end == bytes.size()) return found + (begin == end ? "" : "half");
      end = std::min(bytes.size(), end + step);
      continue;
    }
    found += StoreOpName(request.op);
    switch (request.op) {
      case StoreOp::kCompareSet:
        found += "(" + std::string(request.key) + "," + std::string(request.expected) + "," +
                 std::string(request.value) + ")";
        break;
      case StoreOp::kSet:
      case StoreOp::kAppend:
      case StoreOp::kQueuePush:
        found += "(" + std::string(request.key) + "," + std::string(request.value) + ")";
        break;
      case StoreOp::kAdd:
      case StoreOp::kBarrier:
        found += "(" + std::string(request.key) + "," + std::to_string(request.number) + ")";
        break;
      case StoreOp::kWait:
      case StoreOp::kCheck:
      case StoreOp::kMultiGet:
      case StoreOp::kMultiSet:
        for (size_t i = 0; i < request.keys.size(); ++i) {
          found += (i == 0 ? "(" : ",") + std::string(request.keys[i]);
          if (request.op == StoreOp::kMultiSet) found += "=" + std::string(request.values[i]);
        }
        found += ")";
        break;
      default:
        break;
    }
    found += " ";
    begin += parser.consumed();
  }
}

void ExpectParses(const std::string& bytes, const std::string& requests) {
  EXPECT_EQ(ParseAll(bytes, bytes.size()), requests);
  for (const size_t step : {1, 3, 7}) EXPECT_EQ(ParseAll(bytes, step), requests) << step;
}

TEST(StoreParser, ReadsARequestOfEveryKindFrom22) {
  std::string bytes =
      testing::Hello() + testing::Set("k", "v") + Byte(2) + Text("k") + Text("v") + Text("w");
  bytes += testing::Get("k") + testing::Add("n", -3) + Byte(5) + testing::Keys({"a", ""});
  bytes += testing::Wait({"a", "b", "c"}) + Byte(7) + Byte(8) + Text("k") + Byte(9) + Text("k") +
           Text("x");
  bytes += Byte(10) + testing::Keys({"a"}) + Byte(11) + Number(uint64_t{2}) + Text("a") +
           Text("1") + Text("b") + Text("");
  bytes += Byte(12) + Byte(13) + Number(uint32_t{4711}) + Byte(14) + Text("q") + Text("i") +
           Byte(15) + Text("q");
  bytes += Byte(16) + Text("q") + Byte(17) + Byte(18) + Text("b") + Number(int64_t{4});
  ExpectParses(
      bytes,
      "VALIDATE SET(k,v) COMPARE_SET(k,v,w) GET ADD(n,-3) CHECK(a,) WAIT(a,b,c) GETNUMKEYS "
      "DELETE_KEY APPEND(k,x) MULTI_GET(a) MULTI_SET(a=1,b=) CANCEL_WAIT PING "
      "QUEUE_PUSH(q,i) QUEUE_POP QUEUE_LEN LIST_KEYS BARRIER(b,4) ");
}

TEST(StoreParser, KnowsAnOldClientByItsFirstBytes) {
  ExpectParses(
      Byte(3) + Text("init/") + Number(int64_t{1}) + Byte(0) + Text("k") + Text("v") + Byte(6),
      "ADD(init/,1) SET(k,v) GETNUMKEYS ");
  // Byte 8 with nothing behind the key deletes (up to 2.0) ...
  EXPECT_EQ(ParseAll(Byte(8) + Text("k"), 100), "DELETE_KEY ");
  // ... with a value it appends (2.1), and 7 deletes.
  EXPECT_EQ(ParseAll(Byte(8) + Text("k") + Text("v") + Byte(7) + Text("k"), 100),
            "APPEND(k,v) DELETE_KEY ");
}

TEST(StoreParser, TakesTheFirstSevenOfAnOldConnectionForAWatch) {
  ExpectParses(Byte(7) + Text("k") + Byte(7) + Text("l"), "WATCH_KEY WATCH_KEY ");
  ExpectParses(Byte(6) + Byte(7) + Text("k") + Byte(11), "GETNUMKEYS DELETE_KEY CANCEL_WAIT ");
}

TEST(StoreParser, RefusesGarbage) {
  EXPECT_EQ(ParseAll("GET / HTTP/1.1\r\n\r\n", 100), "garbage: unknown opcode");
  EXPECT_EQ(ParseAll(std::string("\x16\x03\x01\x02\x00", 5), 100), "garbage: unknown opcode");
  EXPECT_EQ(ParseAll(testing::Hello() + testing::Hello(), 100), "VALIDATE garbage: VALIDATE twice");
  EXPECT_EQ(ParseAll(testing::Hello() + Byte(19), 100), "VALIDATE garbage: unknown opcode");
  EXPECT_EQ(ParseAll(testing::Hello() + Byte(3) + Number(~uint64_t{0}), 100),
            "VALIDATE garbage: key too long");
  EXPECT_EQ(ParseAll(testing::Hello() + Byte(1) + Text("k") + Number(uint64_t{1} << 40), 100),
            "VALIDATE garbage: value too long");
  EXPECT_EQ(ParseAll(testing::Hello() + Byte(6) + Number(uint64_t{1} << 60), 100),
            "VALIDATE garbage: too many keys");
}

TEST(StoreParser, AMessageOfManyPartsHasALimitAsAWhole) {
  StoreLimits limits;
  limits.max_message_bytes = 100;
  StoreParser parser(limits);
  StoreRequest request;
  const std::string bytes = Byte(10) + Number(uint64_t{2}) + Text("a") +
                            Text(std::string(50, 'x')) + Text("b") + Number(uint64_t{60});
  EXPECT_EQ(parser.Next(bytes, request), StoreParser::Outcome::kGarbage);
  EXPECT_EQ(parser.why(), "message too long");
}

}  // namespace
}  // namespace rendezvous

#include "net/http/response_stream.h"

#include <gtest/gtest.h>

#include <thread>

namespace net {
namespace {

struct ExchangeTest : testing::Test {
  int wakes = 0;
  std::shared_ptr<ResponseStream> stream = std::make_shared<ResponseStream>([this] { ++wakes; });
  std::shared_ptr<Responder> responder = MakeResponder(stream);
};

TEST_F(ExchangeTest, WakesOnceForManyWritesAndPutsSmallOnesTogether) {
  responder->Start(200, {});
  for (int i = 0; i < 100; ++i) responder->Write("line\n");
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(responder->PendingBytes(), 500U);
  const ResponseStream::Output output = stream->Take();
  EXPECT_EQ(output.pieces.size(), 1U);
  EXPECT_FALSE(output.is_finished);
  responder->Write(std::string(10'000, 'x'));
  responder->Write("y");
  EXPECT_EQ(wakes, 2);
  EXPECT_EQ(stream->Take().pieces.size(), 2U);
  stream->Taken(10'501);
  EXPECT_EQ(responder->PendingBytes(), 0U);
}

TEST_F(ExchangeTest, AnswersOnlyOnce) {
  responder->Send({201, {}, "a"});
  responder->Send({500, {}, "b"});
  responder->Start(500, {});
  responder->Write("c");
  responder->Finish();
  const ResponseStream::Output output = stream->Take();
  EXPECT_EQ(output.head->status, 201);
  EXPECT_EQ(output.pieces, std::vector<std::string>{"a"});
  EXPECT_TRUE(output.is_finished);
  EXPECT_EQ(wakes, 1);
}

TEST_F(ExchangeTest, AnswersForAProducerThatDropsTheRequest) {
  responder.reset();
  const ResponseStream::Output output = stream->Take();
  EXPECT_EQ(output.head->status, 500);
  EXPECT_TRUE(output.is_finished);
}

TEST_F(ExchangeTest, BreaksTheAnswerOfAProducerThatGoesAwayInTheMiddle) {
  responder->Start(200, {});
  responder->Write("a");
  responder.reset();
  EXPECT_TRUE(stream->Take().is_broken);
}

TEST_F(ExchangeTest, GivesWholePiecesWhileThereIsRoom) {
  const std::string piece(5'000, 'x');
  responder->Start(200, {});
  for (int i = 0; i < 4; ++i) responder->Write(piece);
  responder->Finish();
  EXPECT_EQ(stream->Take(0).pieces.size(), 0U);
  EXPECT_EQ(stream->Take(5'001).pieces.size(), 2U);
  const ResponseStream::Output rest = stream->Take(100'000);
  EXPECT_EQ(rest.pieces.size(), 2U);
  EXPECT_TRUE(rest.is_finished);
}

TEST_F(ExchangeTest, CutShortDropsWhatIsNotOnItsWay) {
  const std::string piece(5'000, 'x');
  responder->Start(200, {});
  for (int i = 0; i < 4; ++i) responder->Write(piece);
  EXPECT_EQ(stream->Take(1).pieces.size(), 1U);
  bool has_room = false;
  responder->WhenTaken(6'000, [&] { has_room = true; });
  responder->CutShort("too slow\n");
  EXPECT_TRUE(has_room);
  EXPECT_EQ(responder->PendingBytes(), 5'009U);
  responder->Write("late");
  const ResponseStream::Output rest = stream->Take();
  EXPECT_EQ(rest.pieces, std::vector<std::string>{"too slow\n"});
  EXPECT_TRUE(rest.is_finished);
  EXPECT_TRUE(rest.is_cut_short);
}

TEST_F(ExchangeTest, ReportsTheCloseOnce) {
  int closes = 0;
  responder->OnClose([&] { ++closes; });
  responder->Start(200, {});
  responder->Write("abc");
  EXPECT_FALSE(responder->IsClosed());
  stream->Close();
  stream->Close();
  EXPECT_EQ(closes, 1);
  EXPECT_TRUE(responder->IsClosed());
  EXPECT_EQ(responder->PendingBytes(), 0U);
  responder->OnClose([&] { closes += 10; });
  EXPECT_EQ(closes, 11);
  responder->Write("dropped");
  EXPECT_TRUE(stream->Take().pieces.empty());
}

TEST(ResponseStream, TakesFromAnyThread) {
  std::atomic<int> wakes{0};
  auto stream = std::make_shared<ResponseStream>([&] { ++wakes; });
  auto responder = MakeResponder(stream);
  responder->Start(200, {});
  std::thread producer([&] {
    for (int i = 0; i < 10'000; ++i) responder->Write("x");
    responder->Finish();
  });
  size_t bytes = 0;
  bool is_finished = false;
  while (!is_finished) {
    const ResponseStream::Output output = stream->Take();
    for (const auto& piece : output.pieces) bytes += piece.size();
    is_finished = output.is_finished;
  }
  producer.join();
  EXPECT_EQ(bytes, 10'000U);
  EXPECT_LE(wakes.load(), 10'002);
}

TEST(ResponseStream, KeepsWhatLinesSayForAReaderInThisProcessOnly) {
  for (const bool wants_parsed : {true, false}) {
    ResponseStream stream([] {}, wants_parsed);
    const auto owner = std::make_shared<int>(7);
    const Parsed object(owner, reinterpret_cast<const boost::json::value*>(owner.get()));
    stream.Start(200, {});
    stream.Write("first\n");
    stream.WriteLines("second\nthird\n", {{7, object, 100}});
    EXPECT_EQ(stream.pending_bytes(), wants_parsed ? 119U : 19U);  // with the text that is left out
    const ResponseStream::Output output = stream.Take();
    ASSERT_EQ(output.parsed.size(), wants_parsed ? 1U : 0U);
    EXPECT_EQ(owner.use_count(), wants_parsed ? 3 : 2);
    if (!wants_parsed) continue;
    EXPECT_EQ(output.parsed[0].begin, 13U);  // after "first\nsecond\n"
    EXPECT_EQ(output.parsed[0].object, object);
    // What is dropped with a slow reader's lines is not kept either.
    stream.Taken(119);
    stream.WriteLines("fourth\n", {{0, object, 100}});
    stream.CutShort("too slow\n");
    EXPECT_TRUE(stream.Take().parsed.empty());
    EXPECT_EQ(stream.pending_bytes(), 9U);
  }
}

}  // namespace
}  // namespace net
